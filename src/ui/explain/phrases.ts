import { escapeText } from "../../util/escape-text.ts";

/** A text of a program as it may be shown: what a terminal would obey or hide is made visible. */
export function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}

export function list(texts: readonly string[]): string {
  return texts.map(show).join(", ");
}

/** `5 MB`, `200 kB`, and the exact number where it is not round. */
export function bytes(number: number): string {
  if (number > 0 && number % 1_000_000 === 0) return `${count(number / 1_000_000)} MB`;
  if (number > 0 && number % 1000 === 0) return `${count(number / 1000)} kB`;
  return `${count(number)} bytes`;
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 worker`, `2 workers`. */
export function counted(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? "" : "s"}`;
}
