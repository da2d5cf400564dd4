import { inSteps, type Steps } from "../../util/in-steps.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { type Change, diffLines, type LineDiff, type LineRange } from "./diff-lines.ts";
import { commonHead, commonTail, context, type DiffWindow, findDiffWindow } from "./diff-window.ts";

import type { PreviewLine } from "./preview-rows.ts";

/** Characters of a changed line. Longer lines are shown around the change alone. */
const longestLine = 400;
/** Characters that are shown before and after the change of a long line. */
const aroundChange = 80;

export const noLineBreak = "no line break at the end of the file";

/** A unified diff. Every line that is changed is in it. */
export function* renderDiff(path: string, before: string, after: string): Steps<PreviewLine[]> {
  const window = yield* findDiffWindow(before, after);
  const lines: PreviewLine[] = [{ text: `--- ${path}` }, { text: `+++ ${path}` }];
  if (Math.max(...window.lines) > mostLines) return [...lines, ...wholeChange(window)];
  const diff = yield* diffLines(window.before, window.after);
  if (diff.changes.length === 0) return ["the content stays as it is"];
  for (const hunk of hunksOf(diff)) yield* addHunk(lines, { ...diff, skipped: window.skipped }, hunk);
  return lines;
}

/** Lines of a part that is compared line by line. */
const mostLines = 200_000;

function wholeChange({ before, after, skipped, lines: [old, now] }: DiffWindow): PreviewLine[] {
  const range = (count: number) => rangeText({ start: skipped, end: skipped + count });
  const block = (text: string, sign: "+" | "-", format: "green" | "red"): PreviewLine[] => {
    if (text === "") return [];
    return text.endsWith("\n") ? [{ block: text.slice(0, -1), sign, format }] : [{ block: text, sign, format }, noLineBreak];
  };
  return [{ text: `@@ -${range(old)} +${range(now)} @@` }, ...block(before, "-", "red"), ...block(after, "+", "green")];
}

/** A comparison of a part of a file, with the lines in front of it. */
interface PartDiff extends LineDiff {
  readonly skipped: number;
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

function* addHunk(lines: PreviewLine[], { before, after, skipped }: PartDiff, changes: readonly Change[]): Steps<void> {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return;
  const start = Math.max(first.old.start - context, 0);
  const end = Math.min(last.old.end + context, before.length);
  const newStart = first.new.start - (first.old.start - start);
  const old = { start, end };
  const now = { start: newStart, end: last.new.end + (end - last.old.end) };
  const inFile = (range: LineRange) => rangeText({ start: range.start + skipped, end: range.end + skipped });
  lines.push({ text: `@@ -${inFile(old)} +${inFile(now)} @@` });
  let at = start;
  for (const change of changes) {
    for (const line of before.slice(at, change.old.start)) lines.push(...signed(" ", line));
    yield* addChange(lines, before.slice(change.old.start, change.old.end), after.slice(change.new.start, change.new.end));
    at = change.old.end;
  }
  for (const line of before.slice(at, end)) lines.push(...signed(" ", line));
}

/** Writes a range as `diff -u` does: an empty one as the line before it. */
function rangeText({ start, end }: LineRange): string {
  return `${end > start ? start + 1 : start},${end - start}`;
}

function* addChange(lines: PreviewLine[], old: readonly string[], now: readonly string[]): Steps<void> {
  const isLong = (line: string) => line.length > longestLine;
  if (old.length === now.length && (old.some(isLong) || now.some(isLong))) {
    yield* inSteps(old, (line, index) => lines.push(...pairLines(line, now[index] ?? line)));
    return;
  }
  yield* inSteps(old, (line) => lines.push(...signed("-", line)));
  yield* inSteps(now, (line) => lines.push(...signed("+", line)));
}

/** Counts what is the same at both ends of two long lines, and shows the rest. */
function pairLines(old: string, now: string): PreviewLine[] {
  const [a, b] = [old.replace(/\n$/, ""), now.replace(/\n$/, "")];
  const same = commonHead(a, b);
  const head = wholeBefore(a, Math.max(same - aroundChange, 0));
  let tail = Math.max(commonTail(a, b, Math.min(a.length, b.length) - same) - aroundChange, 0);
  if (/^[\uDC00-\uDFFF]/.test(a.slice(a.length - tail))) tail--;
  if (head + tail < longestLine / 2) return [...signed("-", old), ...signed("+", now)];
  const cut = (line: string, text: string) => line.slice(head, text.length - tail) + line.slice(text.length);
  const ends = [head > 0 ? `the first ${formatCount(head)}` : "", tail > 0 ? `the last ${formatCount(tail)}` : ""].filter(
    (end) => end !== "",
  );
  return [
    `${ends.join(" and ")} characters of the next line stay as they are`,
    ...signed("-", cut(old, a)),
    ...signed("+", cut(now, b)),
  ];
}

function wholeBefore(text: string, at: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) ? at - 1 : at;
}

/** A line with its line break, or the last one without. */
function signed(sign: " " | "+" | "-", line: string): PreviewLine[] {
  const text = line.replace(/\n$/, "");
  const shown = sign === " " ? { sign, text } : { sign, text, format: sign === "+" ? ("green" as const) : ("red" as const) };
  return line.endsWith("\n") ? [shown] : [shown, noLineBreak];
}
