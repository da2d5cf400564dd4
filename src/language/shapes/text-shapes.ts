import { clipText } from "../../util/text/clip-text.ts";
import { text } from "./scalar-shapes.ts";
import { refined, type Shape } from "./shape.ts";

/** A text with a JSON Schema of its own. */
function textLike(jsonSchema: object): Shape<string> {
  return { ...text(), jsonSchema: { type: "string", ...jsonSchema } };
}

/** The end of a file's name from a dot on, in lower case: `.PDF` and `.pdf` are one. */
export const suffix = refined(textLike({ pattern: "^\\.[^/\\\\*?]+$" }), (value, node, { report }) => {
  const trimmed = value.trim().toLowerCase();
  if (/^\.[^/\\*?\s]+$/.test(trimmed)) return trimmed;
  const bare = trimmed.replace(/^\*?\.?/, "");
  const note = /^[a-z0-9.]+$/.test(bare) ? `write \`.${bare}\`` : undefined;
  const message = `\`${clipText(value, 40)}\` is not a suffix: one begins with a dot`;
  return report("invalid-suffix", { message, span: node.span, note });
});

const host = "^(\\*\\.)?[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$";

/** The name of a host in lower case: `example.com`, or `*.example.com` for all below it. */
export const hostName = refined(textLike({ pattern: host, maxLength: 253 }), (value, node, { report }) => {
  if (value.length <= 253 && new RegExp(host).test(value)) return value.toLowerCase();
  const [, named] = /^[a-z]+:\/\/([^/:?#\s]+)/i.exec(value) ?? [];
  const note = named ? `write \`${clipText(named, 80)}\`` : "a host is `example.com`, or `*.example.com` for all below it";
  return report("invalid-value", { message: `\`${clipText(value, 60)}\` is not the name of a host`, span: node.span, note });
});

/** A media type in lower case: `application/pdf`, `image/*`. */
export const mediaType = refined(text(), (value, node, { report }) => {
  const written = value.trim().toLowerCase();
  if (/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)$/.test(written)) return written;
  const note = "one is `application/pdf` or `image/*`";
  return report("invalid-value", { message: `\`${clipText(value, 40)}\` is not a media type`, span: node.span, note });
});

const pathSchema = { pattern: "^(?![/~]|[A-Za-z]:)[^\\\\\\u0000]+$" };

/** The path of a file of the program, relative to the file that names it. It is not checked here to stay in the program. */
export const programPath = refined(textLike(pathSchema), (value, node, { report }) => {
  if (!/^(?:[/~]|[A-Za-z]:)|\\|\0/.test(value)) return value;
  const note = "write a path relative to this file, with `/` between folders";
  return report("invalid-value", { message: `\`${clipText(value, 60)}\` is not a path in the program`, span: node.span, note });
});

const pathOrName = [{ pattern: "/" }, { pattern: "\\.worker$" }, { pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" }];

/** The path of a worker file, which has a slash or ends in `.worker`, or the name of a profile. */
export const pathOrProfile = refined(
  { ...programPath, jsonSchema: { ...programPath.jsonSchema, anyOf: pathOrName } },
  (value, node, { report }) => {
    if (pathOrName.some(({ pattern }) => new RegExp(pattern).test(value))) return value;
    const message = `\`${clipText(value, 60)}\` is neither a worker file nor the name of a profile`;
    const note = "write `./base.worker`, or the name of a profile of the manifest";
    return report("invalid-value", { message, span: node.span, note });
  },
);

/** The address of a server. One with a variable in it is checked when the variable is known. */
export const serverAddress = refined(text(), (value, node, { path, report }) => {
  const problem = value.includes("${") ? undefined : baseUrlProblem(value);
  return problem === undefined ? value : report("invalid-value", { message: `\`${path}\` ${problem}`, span: node.span });
});

/** The reason why a text is not the address of a server, as the rest of a sentence; undefined for an address. */
export function baseUrlProblem(written: string): string | undefined {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return "has to be an `http://` or `https://` address";
  if (url.username || url.password) return "must not hold a user name or password; write the key as `api_key`";
  return url.search || url.hash ? "must not hold a `?` or `#`: requests go to paths below it" : undefined;
}
