import { diffArrays } from "diff";
import { inSteps, type Steps } from "../util/in-steps.ts";

/** A line of a file. `isOpen`: it ends the file without a line break. */
export interface FileLine {
  readonly text: string;
  readonly isOpen: boolean;
}

/** Lines of the old text, from `start` to before `end`, whose place those of the new text take. */
export interface Change {
  readonly old: LineRange;
  readonly new: LineRange;
}

export interface LineRange {
  readonly start: number;
  readonly end: number;
}

export interface LineDiff {
  readonly before: readonly FileLine[];
  readonly after: readonly FileLine[];
  /** In order. Exact, and as short as could be found within bounds. */
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
  const [old, now] = [toLines(before), toLines(after)];
  yield;
  const changed = trim({ old: { start: 0, end: old.length }, new: { start: 0, end: now.length } }, (a, b) =>
    isSame(old[a], now[b]),
  );
  const comparison = yield* numbered(old, now, changed);
  const whole = compare(changed, comparison);
  if (whole) return { before: old, after: now, changes: whole };
  const changes: Change[] = [];
  for (const piece of yield* pieces(changed, comparison)) {
    changes.push(...(compare(piece, comparison) ?? [trimNumbered(piece, comparison)]));
    yield;
  }
  return { before: old, after: now, changes };
}

function toLines(text: string): FileLine[] {
  const texts = text.split("\n");
  const last = texts.pop() ?? "";
  const lines = texts.map((line) => ({ text: line, isOpen: false }));
  return last === "" ? lines : [...lines, { text: last, isOpen: true }];
}

function isSame(a: FileLine | undefined, b: FileLine | undefined): boolean {
  return a?.text === b?.text && a?.isOpen === b?.isOpen;
}

interface Comparison {
  /** A number for each line that may have changed; equal lines have the same. */
  readonly old: readonly number[];
  readonly now: readonly number[];
  /** Steps that are left. */
  left: number;
}

function* numbered(old: readonly FileLine[], now: readonly FileLine[], changed: Change): Steps<Comparison> {
  const numbers = new Map<string, number>();
  const open = new Map<string, number>();
  const number = function* (lines: readonly FileLine[], { start, end }: LineRange): Steps<number[]> {
    const found: number[] = new Array<number>(lines.length).fill(-1);
    yield* inSteps(lines.slice(start, end), ({ text, isOpen }, index) => {
      const known = isOpen ? open : numbers;
      const one = known.get(text) ?? numbers.size + open.size;
      known.set(text, one);
      found[start + index] = one;
    });
    return found;
  };
  return { old: yield* number(old, changed.old), now: yield* number(now, changed.new), left: mostSteps };
}

/** Without the lines at both ends that are the same. */
function trim({ old: a, new: b }: Change, isEqual: (old: number, now: number) => boolean): Change {
  let [start, oldEnd, newEnd] = [0, a.end, b.end];
  while (a.start + start < oldEnd && b.start + start < newEnd && isEqual(a.start + start, b.start + start)) start++;
  while (oldEnd > a.start + start && newEnd > b.start + start && isEqual(oldEnd - 1, newEnd - 1)) {
    oldEnd--;
    newEnd--;
  }
  return { old: { start: a.start + start, end: oldEnd }, new: { start: b.start + start, end: newEnd } };
}

function trimNumbered(piece: Change, { old, now }: Comparison): Change {
  return trim(piece, (a, b) => old[a] === now[b]);
}

/** Undefined where it would take too many steps. */
function compare(piece: Change, comparison: Comparison): Change[] | undefined {
  const { old, new: now } = trimNumbered(piece, comparison);
  const size = old.end - old.start + now.end - now.start;
  if (size === 0) return [];
  if (old.start === old.end || now.start === now.end) return [{ old, new: now }];
  const longest = Math.floor(Math.min(mostEdits, Math.sqrt(comparison.left), (comparison.left * 10) / size));
  const options = { maxEditLength: Math.min(size, longest) };
  const parts = diffArrays(
    comparison.old.slice(old.start, old.end) as number[],
    comparison.now.slice(now.start, now.end) as number[],
    options,
  );
  const edits = parts?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0) ?? longest;
  comparison.left -= Math.ceil(edits ** 2 / 2 + (edits * size) / 20);
  return parts && toChanges(parts, old.start, now.start);
}

function toChanges(
  parts: readonly { readonly added: boolean; readonly removed: boolean; readonly count: number }[],
  oldStart: number,
  newStart: number,
): Change[] {
  const changes: Change[] = [];
  let [old, now] = [oldStart, newStart];
  for (const { added, removed, count } of parts) {
    if (!added && !removed) {
      old += count;
      now += count;
      continue;
    }
    const last = changes.at(-1);
    const isSame = last?.old.end === old && last.new.end === now;
    const start = isSame ? { old: last.old.start, now: last.new.start } : { old, now };
    if (isSame) changes.pop();
    if (removed) old += count;
    else now += count;
    changes.push({ old: { start: start.old, end: old }, new: { start: start.now, end: now } });
  }
  return changes;
}

/** What lies between the lines that both texts have once, and in the same order. */
function* pieces({ old: a, new: b }: Change, { old, now }: Comparison): Steps<Change[]> {
  const oldPlaces = yield* once(old, a);
  const newPlaces = yield* once(now, b);
  const common: [number, number][] = [];
  yield* inSteps(oldPlaces, ([number, at]) => {
    const place = newPlaces.get(number);
    if (at !== undefined && place !== undefined) common.push([at, place]);
  });
  const found: Change[] = [];
  let from = { old: a.start, now: b.start };
  for (const [oldAt, newAt] of yield* longestRising(common)) {
    found.push({ old: { start: from.old, end: oldAt }, new: { start: from.now, end: newAt } });
    from = { old: oldAt + 1, now: newAt + 1 };
  }
  const all = [...found, { old: { start: from.old, end: a.end }, new: { start: from.now, end: b.end } }];
  return all.filter((piece) => piece.old.end > piece.old.start || piece.new.end > piece.new.start);
}

/** The place of each number that is there once; undefined of the others. */
function* once(numbers: readonly number[], { start, end }: LineRange): Steps<Map<number, number | undefined>> {
  const places = new Map<number, number | undefined>();
  yield* inSteps(numbers.slice(start, end), (number, index) => {
    places.set(number, places.has(number) ? undefined : start + index);
  });
  return places;
}

/** The longest subsequence of pairs whose second members rise. */
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
