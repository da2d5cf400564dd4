import { getOrMake } from "../util/get-or-make.ts";
import type { Position, Source, Span } from "./source.ts";

const lineStartsOf = new WeakMap<Source, readonly number[]>();

/** As YAML and editors have it: a carriage return alone is one, too. */
const lineBreak = /\r\n?|\n/g;

/** Line and column of an offset. The lines of a source are found once, then each position costs a binary search. */
export function positionAt(source: Source, offset: number): Position {
  const starts = lineStarts(source);
  const line = lineIndex(starts, offset);
  return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
}

/** The span of a line (from 1), without its line break. */
export function lineSpan(source: Source, line: number): Span {
  const starts = lineStarts(source);
  const start = starts[line - 1] ?? source.text.length;
  let end = starts[line] ?? source.text.length;
  if (end > start && source.text[end - 1] === "\n") end--;
  if (end > start && source.text[end - 1] === "\r") end--;
  return { source, start, end };
}

function lineStarts(source: Source): readonly number[] {
  return getOrMake(lineStartsOf, source, () => [
    0,
    ...Array.from(source.text.matchAll(lineBreak), ({ index, 0: { length } }) => index + length),
  ]);
}

function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
