import type { Steps } from "../../util/in-steps.ts";

/** Lines around a change that are shown with it. */
export const context = 4;

/** The part of two texts that differs, in whole lines, with the lines around it. */
export interface DiffWindow {
  readonly before: string;
  readonly after: string;
  /** Lines in front of it. */
  readonly skipped: number;
  /** Lines of each text. */
  readonly lines: readonly [number, number];
}

/** Finds the part that differs. The cost depends on the size of the change more than on that of the file. */
export function* findDiffWindow(before: string, after: string): Steps<DiffWindow> {
  const head = commonHead(before, after);
  yield;
  const start = linesBack(before, head);
  const tail = commonTail(before, after, Math.min(before.length, after.length) - head);
  yield;
  const end = linesForward(before, before.length - tail);
  const old = before.slice(start, end);
  const now = after.slice(start, after.length - (before.length - end));
  const skipped = yield* countBreaks(before.slice(0, start));
  return { before: old, after: now, skipped, lines: [yield* countBreaks(old), yield* countBreaks(now)] };
}

/** The beginning of the line that holds a place, and of the context before it. */
function linesBack(text: string, place: number): number {
  let start = place;
  for (let left = context; left >= 0 && start > 0; left--) start = lineStart(text, left === context ? start : start - 1);
  return start;
}

function lineStart(text: string, place: number): number {
  return place === 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1;
}

/** The end of the line that holds a place, and of the context after it. */
function linesForward(text: string, place: number): number {
  let end = place;
  for (let left = context; left >= 0 && end < text.length; left--) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return end;
}

const breaksInStep = 500_000;

export function* countBreaks(text: string): Steps<number> {
  let breaks = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) if (++breaks % breaksInStep === 0) yield;
  return breaks;
}

/** Whole pieces are compared first, which costs little however long the texts are. */
const piece = 65_536;

/** Counts the characters that two texts share at the beginning. */
export function commonHead(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length);
  let head = 0;
  while (head + piece <= shortest && a.slice(head, head + piece) === b.slice(head, head + piece)) head += piece;
  while (head < shortest && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  return head;
}

/** Counts the characters that two texts share at the end, `most` at most. */
export function commonTail(a: string, b: string, most: number): number {
  const end = (text: string, from: number, to: number) => text.slice(text.length - from, text.length - to);
  let tail = 0;
  while (tail + piece <= most && end(a, tail + piece, tail) === end(b, tail + piece, tail)) tail += piece;
  while (tail < most && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  return tail;
}
