/**
 * JSON with sorted keys and no spaces: the one form in which values are compared and digested. Members that are
 * `undefined` are left out, as JSON does. `write`: puts another text in place of each text that is no key.
 */
export function canonicalJson(value: unknown, write?: (text: string) => string): string {
  return JSON.stringify(sorted(value, write));
}

/** Returns the value itself where JSON has all keys in their order already, and copies what has not. */
function sorted(value: unknown, write?: (text: string) => string): unknown {
  if (write && typeof value === "string") return write(value);
  if (typeof value !== "object" || value === null) return value;
  // A date, for instance.
  if (hasOwnForm(value)) return sorted(JSON.parse(JSON.stringify(value) ?? "null"), write);
  return Array.isArray(value) ? sortedItems(value, write) : sortedMembers(value as Record<string, unknown>, write);
}

function sortedItems(items: readonly unknown[], write?: (text: string) => string): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const member = sorted(items[index], write);
    if (member !== items[index]) copy ??= [...items];
    if (copy) copy[index] = member;
  }
  return copy ?? items;
}

function sortedMembers(value: Readonly<Record<string, unknown>>, write?: (text: string) => string): object {
  const keys = Object.keys(value);
  const isSorted = isAscending(keys);
  // Objects without a prototype are slow.
  let copy: Record<string, unknown> | undefined = isSorted ? undefined : keys.includes("__proto__") ? Object.create(null) : {};
  for (const key of isSorted ? keys : sortKeys(keys)) {
    const member = sorted(value[key], write);
    if (member !== value[key]) copy ??= { ...value };
    if (copy) copy[key] = member;
  }
  return copy ?? value;
}

function isAscending(keys: readonly string[]): boolean {
  let last: string | undefined;
  for (const key of keys) {
    if (last !== undefined && key < last) return false;
    last = key;
  }
  return true;
}

/** Sorts in place. For a short list, `sort` allocates ten times what its keys take. */
function sortKeys(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? "";
    let at = index;
    for (let before = keys[at - 1]; before !== undefined && before > key; before = keys[at - 1]) keys[at--] = before;
    keys[at] = key;
  }
  return keys;
}

function hasOwnForm(value: object): boolean {
  return "toJSON" in value && typeof value.toJSON === "function";
}
