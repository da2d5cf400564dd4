/**
 * JSON with sorted keys and no spaces: the one form in which values are compared and digested. Members that are
 * `undefined` are left out, as JSON does. `write`: puts another text in place of each text that is no key.
 */
export function canonicalJson(value: unknown, write?: (text: string) => string): string {
  return JSON.stringify(!write && isSorted(value) ? value : sorted(value, write));
}

/** True where JSON has all keys in their order already. */
function isSorted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (hasOwnForm(value)) return false;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = "";
  for (const key of Object.keys(value)) {
    if (key < last || !isSorted((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}

function sorted(value: unknown, write?: (text: string) => string): unknown {
  if (write && typeof value === "string") return write(value);
  if (typeof value !== "object" || value === null) return value;
  // A date, for instance.
  if (hasOwnForm(value)) return sorted(JSON.parse(JSON.stringify(value) ?? "null"), write);
  if (Array.isArray(value)) return value.map((item) => sorted(item, write));
  const keys = sortKeys(Object.keys(value));
  // Objects without a prototype are slow.
  const result: Record<string, unknown> = keys.includes("__proto__") ? Object.create(null) : {};
  for (const key of keys) result[key] = sorted((value as Record<string, unknown>)[key], write);
  return result;
}

/** Sorts in place. For a short list, `sort` allocates ten times what its keys take. */
function sortKeys(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort();
  for (const [index, key] of keys.entries()) {
    let at = index;
    for (let before = keys[at - 1]; before !== undefined && before > key; before = keys[at - 1]) keys[at--] = before;
    keys[at] = key;
  }
  return keys;
}

function hasOwnForm(value: object): boolean {
  return "toJSON" in value && typeof value.toJSON === "function";
}
