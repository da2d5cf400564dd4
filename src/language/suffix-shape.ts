import { clipText } from "../util/clip-text.ts";
import { text } from "./scalar-shapes.ts";
import { refined, type Shape } from "./shape.ts";

/** The end of a file's name from a dot on. Read in lower case: `.PDF` and `.pdf` are one. */
export function suffix(): Shape<string> {
  const written: Shape<string> = { ...text(), jsonSchema: { type: "string", pattern: "^\\.[^/\\\\*?]+$" } };
  return refined(written, (value, node, place) => {
    const trimmed = value.trim().toLowerCase();
    if (/^\.[^/\\*?\s]+$/.test(trimmed)) return trimmed;
    const bare = trimmed.replace(/^\*?\.?/, "");
    const notes = /^[a-z0-9.]+$/.test(bare) ? [{ message: `write \`.${bare}\`` }] : [];
    const message = `\`${clipText(value, 40)}\` is not a suffix: one begins with a dot`;
    return place.report("invalid-suffix", { message, span: node.span, notes });
  });
}
