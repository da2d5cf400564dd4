import { clipText } from "../util/clip-text.ts";
import { text } from "./scalar-shapes.ts";
import { type Place, refined, type Shape } from "./shape.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** The path of a file of the program, relative to the file that names it. Whether it leaves the program is not seen here. */
export function programPath(): Shape<string> {
  const written: Shape<string> = { ...text(), jsonSchema: { type: "string", pattern: "^(?![/~]|[A-Za-z]:)[^\\\\\\u0000]+$" } };
  return refined(written, (value, node, place) => (checkProgramPath(value, node, place) ? value : undefined));
}

/** Either such a path, which has a slash or ends in `.worker`, or the name of a profile. */
export function pathOrProfile(): Shape<string> {
  const anyOf = [{ pattern: "/" }, { pattern: "\\.worker$" }, { pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" }];
  const path = programPath();
  return refined({ ...path, jsonSchema: { ...path.jsonSchema, anyOf } }, (value, node, place) => {
    if (value.includes("/") || value.endsWith(".worker") || /^[A-Za-z][\w-]{0,63}$/.test(value)) return value;
    const note = "write `./base.worker`, or the name of a profile of the manifest";
    const message = `\`${clipText(value, 60)}\` is neither a worker file nor the name of a profile`;
    return place.report("invalid-value", { message, span: node.span, note });
  });
}

function checkProgramPath(value: string, node: SyntaxNode, place: Place): boolean {
  if (!/^(?:[/~]|[A-Za-z]:)|\\|\0/.test(value)) return true;
  const note = "write a path relative to this file, with `/` between folders";
  const message = `\`${clipText(value, 60)}\` is not a path in the program`;
  place.report("invalid-value", { message, span: node.span, note });
  return false;
}
