/** Cuts a text to `max` UTF-16 units, never through a surrogate pair, and marks the cut, by default with an ellipsis. */
export function clipText(text: string, max: number, mark = "…"): string {
  if (text.length <= max) return text;
  const end = Math.max(0, max - mark.length);
  return `${text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end)}${mark}`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
