import { inSteps, type Steps } from "../util/in-steps.ts";
import { type Change, diffLines, type FileLine, type LineDiff, type LineRange } from "./diff-lines.ts";
import type { PreviewLine } from "./preview-line.ts";

/** Lines around a change that are shown with it. */
const context = 4;
/** Of a line that is changed, longer ones are shown around the change alone. */
const longestLine = 400;
/** Characters that are shown before and after the change of a long line. */
const aroundChange = 80;

export const noLineBreak = "no line break at the end of the file";

/** A unified diff. Every line that is changed is in it. */
export function* renderDiff(path: string, before: string, after: string): Steps<PreviewLine[]> {
  const diff = yield* diffLines(before, after);
  if (diff.changes.length === 0) return ["the content stays as it is"];
  const lines: PreviewLine[] = [{ text: `--- ${path}` }, { text: `+++ ${path}` }];
  for (const hunk of hunksOf(diff)) yield* addHunk(lines, diff, hunk);
  return lines;
}

/** Changes that are near one another. */
function hunksOf({ changes }: LineDiff): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.old.start - last.old.end <= 2 * context) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function* addHunk(lines: PreviewLine[], { before, after }: LineDiff, changes: readonly Change[]): Steps<void> {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return;
  const start = Math.max(first.old.start - context, 0);
  const end = Math.min(last.old.end + context, before.length);
  const newStart = first.new.start - (first.old.start - start);
  const old = { start, end };
  const now = { start: newStart, end: last.new.end + (end - last.old.end) };
  lines.push({ text: `@@ -${rangeText(old)} +${rangeText(now)} @@` });
  let at = start;
  for (const change of changes) {
    for (const line of before.slice(at, change.old.start)) lines.push(...toLine(" ", line));
    yield* addChange(lines, before.slice(change.old.start, change.old.end), after.slice(change.new.start, change.new.end));
    at = change.old.end;
  }
  for (const line of before.slice(at, end)) lines.push(...toLine(" ", line));
}

/** As `diff -u` writes it: of no lines, the one before. */
function rangeText({ start, end }: LineRange): string {
  return `${end > start ? start + 1 : start},${end - start}`;
}

function* addChange(lines: PreviewLine[], old: readonly FileLine[], now: readonly FileLine[]): Steps<void> {
  const isLong = ({ text }: FileLine) => text.length > longestLine;
  if (old.length === now.length && (old.some(isLong) || now.some(isLong))) {
    yield* inSteps(old, (line, index) => lines.push(...pairLines(line, now[index] ?? line)));
    return;
  }
  yield* inSteps(old, (line) => lines.push(...toLine("-", line)));
  yield* inSteps(now, (line) => lines.push(...toLine("+", line)));
}

/** What is the same at both ends of two long lines is counted, and not shown. */
function pairLines(old: FileLine, now: FileLine): PreviewLine[] {
  const [a, b] = [old.text, now.text];
  const shortest = Math.min(a.length, b.length);
  let [head, tail] = [0, 0];
  while (head < shortest && a[head] === b[head]) head++;
  while (tail < shortest - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  head = wholeBefore(a, Math.max(head - aroundChange, 0));
  tail = Math.max(tail - aroundChange, 0);
  if (/^[\uDC00-\uDFFF]/.test(a.slice(a.length - tail))) tail--;
  const cut = (line: FileLine) => ({ ...line, text: line.text.slice(head, line.text.length - tail) });
  const lines = [...toLine("-", cut(old)), ...toLine("+", cut(now))];
  if (head + tail < longestLine / 2) return [...toLine("-", old), ...toLine("+", now)];
  const ends = [...(head > 0 ? [`the first ${count(head)}`] : []), ...(tail > 0 ? [`the last ${count(tail)}`] : [])].join(
    " and ",
  );
  return [`${ends} characters of the next line stay as they are`, ...lines];
}

function wholeBefore(text: string, at: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) ? at - 1 : at;
}

function toLine(sign: " " | "+" | "-", { text, isOpen }: FileLine): PreviewLine[] {
  const line = sign === " " ? { sign, text } : { sign, text, format: sign === "+" ? ("green" as const) : ("red" as const) };
  return isOpen ? [line, noLineBreak] : [line];
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}
