const longestName = 64;

/** Returns the candidates of which `name` is probably a misspelling, nearest first, `limit` at most. */
export function nearestNames(name: string, candidates: Iterable<string>, limit = 3): string[] {
  if (name.length === 0 || name.length > longestName) return [];
  const wanted = normalize(name);
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const distance = distanceTo(wanted, normalize(candidate));
    if (distance !== undefined) near.push({ candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, limit).map((entry) => entry.candidate);
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Returns undefined for names that are too different. */
function distanceTo(wanted: string, candidate: string): number | undefined {
  const length = Math.max(wanted.length, candidate.length);
  const allowed = length <= 3 ? 1 : Math.floor(length / 3);
  if (candidate.length > longestName) return undefined;
  const isShortForm = wanted.length >= 3 && (candidate.startsWith(wanted) || candidate.endsWith(wanted));
  if (isShortForm) return allowed;
  if (Math.abs(wanted.length - candidate.length) > allowed) return undefined;
  const distance = editDistance(wanted, candidate);
  return distance <= allowed ? distance : undefined;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
