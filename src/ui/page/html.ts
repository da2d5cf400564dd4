import { clipText } from "../../util/text/clip-text.ts";
import { showProse } from "../text/show-text.ts";

/** Markup that this product wrote. Everything else is text. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Markup | string | number | readonly Part[];

/** In UTF-16 units. `ShownTexts` shows longer ones. */
const longestPart = 2000;

/** Builds markup from a template. Values are text: they are escaped in content and in quoted attributes alike, and cut if they are long. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const pieces = strings.map((string, index) => `${string}${index < parts.length ? toMarkup(parts[index] ?? "") : ""}`);
  return new Markup(pieces.join(""));
}

function toMarkup(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(toMarkup).join("");
  return toText(clipText(String(part), longestPart)).text;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes a text of any length. Makes characters visible that reorder or hide parts of a line. */
export function toText(text: string): Markup {
  return new Markup(showProse(text).replace(/[&<>"']/g, (character) => entities[character] ?? ""));
}
