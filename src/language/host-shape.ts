import { clipText } from "../util/clip-text.ts";
import { text } from "./scalar-shapes.ts";
import { refined, type Shape } from "./shape.ts";

const pattern = "^(\\*\\.)?[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$";

/** The name of a host: `example.com`, or `*.example.com` for all below it. Read in lower case. */
export function hostName(): Shape<string> {
  const written: Shape<string> = { ...text(), jsonSchema: { type: "string", pattern, maxLength: 253 } };
  return refined(written, (value, node, place) => {
    if (value.length <= 253 && new RegExp(pattern).test(value)) return value.toLowerCase();
    const [, host] = /^[a-z]+:\/\/([^/:?#\s]+)/i.exec(value) ?? [];
    const note =
      host === undefined ? "a host is `example.com`, or `*.example.com` for all below it" : `write \`${clipText(host, 80)}\``;
    const message = `\`${clipText(value, 60)}\` is not the name of a host`;
    return place.report("invalid-value", { message, span: node.span, note: note });
  });
}
