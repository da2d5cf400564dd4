/** Cuts a text to `max` UTF-16 units, never through a surrogate pair, and marks the cut with an ellipsis. */
export function clipText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = isHighSurrogate(text.charCodeAt(max - 2)) ? max - 2 : max - 1;
  return `${text.slice(0, Math.max(0, end))}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
