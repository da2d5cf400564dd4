import { diffArrays } from "diff";
import { inSteps, type Steps } from "../../util/in-steps.ts";

/** Lines of the old text, from `start` to before `end`, and the lines of the new text that replace them. */
export interface Change {
  readonly old: LineRange;
  readonly new: LineRange;
}

export interface LineRange {
  readonly start: number;
  readonly end: number;
}

export interface LineDiff {
  /** Lines with their line breaks, which the last one may lack. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Changes in order. Exact, and as short as could be found within bounds. */
  readonly changes: readonly Change[];
}

/** Steps of the comparison, which takes a time in proportion to them: some 100 ms for all. */
const mostSteps = 400_000;
/** Changed lines that one comparison looks for. */
const mostEdits = 300;

/**
 * Compares two texts by lines, in bounded time: the whole first; where that takes too long, piece by piece between lines that
 * both texts have once. A piece that still takes too long is one change of all its lines.
 */
export function* diffLines(before: string, after: string): Steps<LineDiff> {
  const lines = { before: toLines(before), after: toLines(after) };
  yield;
  const numbers = new Map<string, number>();
  const old = yield* numberLines(lines.before, numbers);
  const now = yield* numberLines(lines.after, numbers);
  const comparison = { old, now, left: mostSteps };
  const changed = trim({ old: { start: 0, end: old.length }, new: { start: 0, end: now.length } }, comparison);
  const whole = compare(changed, comparison);
  if (whole) return { ...lines, changes: whole };
  const changes: Change[] = [];
  for (const piece of yield* pieces(changed, comparison)) {
    changes.push(...(compare(piece, comparison) ?? [trim(piece, comparison)]));
    yield;
  }
  return { ...lines, changes };
}

function toLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

interface Comparison {
  /** A number for each line; equal lines have the same. */
  readonly old: readonly number[];
  readonly now: readonly number[];
  /** Steps that are left. */
  left: number;
}

function* numberLines(lines: readonly string[], numbers: Map<string, number>): Steps<number[]> {
  const found: number[] = [];
  yield* inSteps(lines, (line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    found.push(number);
  });
  return found;
}

/** Returns a piece without the lines at both ends that are the same. */
function trim({ old: a, new: b }: Change, { old, now }: Comparison): Change {
  let [start, newStart, end, newEnd] = [a.start, b.start, a.end, b.end];
  for (; start < end && newStart < newEnd && old[start] === now[newStart]; start++) newStart++;
  for (; start < end && newStart < newEnd && old[end - 1] === now[newEnd - 1]; end--) newEnd--;
  return { old: { start, end }, new: { start: newStart, end: newEnd } };
}

/** Returns undefined if it would take too many steps. */
function compare(piece: Change, comparison: Comparison): Change[] | undefined {
  const { old, new: now } = trim(piece, comparison);
  const size = old.end - old.start + now.end - now.start;
  if (size === 0) return [];
  if (old.start === old.end || now.start === now.end) return [{ old, new: now }];
  const longest = Math.floor(Math.min(mostEdits, Math.sqrt(comparison.left), (comparison.left * 10) / size));
  const [before, after] = [comparison.old.slice(old.start, old.end), comparison.now.slice(now.start, now.end)];
  const parts = diffArrays(before, after, { maxEditLength: Math.min(size, longest) });
  const edits = parts?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0) ?? longest;
  comparison.left -= Math.ceil(edits ** 2 / 2 + (edits * size) / 20);
  return parts && toChanges(parts, old.start, now.start);
}

type Part = { readonly added: boolean; readonly removed: boolean; readonly count: number };

function toChanges(parts: readonly Part[], oldStart: number, newStart: number): Change[] {
  const changes: { old: { start: number; end: number }; new: { start: number; end: number } }[] = [];
  let [old, now, isOpen] = [oldStart, newStart, false];
  for (const { added, removed, count } of parts) {
    const isChange = added || removed;
    if (isChange && !isOpen) changes.push({ old: { start: old, end: old }, new: { start: now, end: now } });
    if (!added) old += count;
    if (!removed) now += count;
    const last = changes.at(-1);
    if (isChange && last) [last.old.end, last.new.end] = [old, now];
    isOpen = isChange;
  }
  return changes;
}

/** Returns what lies between the lines that both texts have once, and in the same order. */
function* pieces({ old: a, new: b }: Change, { old, now }: Comparison): Steps<Change[]> {
  const oldPlaces = yield* once(old, a);
  const newPlaces = yield* once(now, b);
  const common: [number, number][] = [];
  yield* inSteps(oldPlaces, ([number, at]) => {
    const place = newPlaces.get(number);
    if (at !== undefined && place !== undefined) common.push([at, place]);
  });
  const found: Change[] = [];
  let [start, newStart] = [a.start, b.start];
  for (const [end, newEnd] of [...(yield* longestRising(common)), [a.end, b.end] as const]) {
    if (end > start || newEnd > newStart) found.push({ old: { start, end }, new: { start: newStart, end: newEnd } });
    [start, newStart] = [end + 1, newEnd + 1];
  }
  return found;
}

/** Maps each number that occurs once to its place, and the others to undefined. */
function* once(numbers: readonly number[], { start, end }: LineRange): Steps<Map<number, number | undefined>> {
  const places = new Map<number, number | undefined>();
  yield* inSteps(numbers.slice(start, end), (number, index) => {
    places.set(number, places.has(number) ? undefined : start + index);
  });
  return places;
}

/** Returns the longest subsequence of pairs whose second members rise. */
function* longestRising(pairs: readonly (readonly [number, number])[]): Steps<(readonly [number, number])[]> {
  const ends: number[] = [];
  const previous: number[] = [];
  yield* inSteps(pairs, ([, value], index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (ends[low - 1] ?? -1) : -1;
    ends[low] = index;
  });
  const rising: (readonly [number, number])[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) rising.push(pair);
  }
  return rising.reverse();
}
