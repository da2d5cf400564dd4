import { escapeText } from "../../util/text/escape-text.ts";
import { formatCount } from "../../util/text/format-count.ts";

/** Escapes a text of a program: codes that a terminal would obey or hide become visible. */
export function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}

export function list(texts: readonly string[]): string {
  return texts.map(show).join(", ");
}

/** Writes a size: `5 MB`, `200 kB`, and the exact number where it is not round. */
export function bytes(number: number): string {
  if (number > 0 && number % 1_000_000 === 0) return `${formatCount(number / 1_000_000)} MB`;
  if (number > 0 && number % 1000 === 0) return `${formatCount(number / 1000)} kB`;
  return `${formatCount(number)} bytes`;
}

/** Writes a number with its noun: `1 worker`, `2 workers`. */
export function counted(number: number, one: string): string {
  return `${formatCount(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** A text as it stands; any other value as JSON, in several lines. */
export function textOrJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
