/**
 * Creates a fold over lists that grow at their end, such as conversations: what was folded before is not looked at again. A list is found by
 * its first element, and its state holds as long as that element is reachable; a list that was changed is folded anew. The
 * returned state belongs to the fold: `add` changes it, callers do not.
 *
 * `begin` creates the state of an empty list from `start`.
 */
export function createGrowingFold<T extends object, State>(
  begin: (start: string) => State,
  add: (state: State, value: T) => void,
): (list: readonly T[], start?: string) => State {
  const known = new WeakMap<T, { readonly start: string; readonly seen: T[]; readonly state: State }>();
  return (list, start = "") => {
    const [first] = list;
    if (first === undefined) return begin(start);
    const found = known.get(first);
    const isPart = found?.start === start && found.seen.every((value, index) => value === list[index]);
    const fold = isPart ? found : { start, seen: [], state: begin(start) };
    for (const value of list.slice(fold.seen.length)) {
      add(fold.state, value);
      fold.seen.push(value);
    }
    known.set(first, fold);
    return fold.state;
  };
}
