/** Returns whether JSON preserves a value: no class instances, accessors or `toJSON`. */
export function isPlainJson(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.every(isPlainJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlainJson);
}

/** Copies a value as JSON; undefined stays undefined. Throws for a cycle or a bigint. Long strings are shared, not copied. */
export function copyJson<T>(value: T): T {
  return value === undefined ? value : copy(value, false);
}

/** Copies a value as JSON, deeply frozen. */
export function frozenJson<T>(value: T): T {
  return copy(value, true);
}

const notPlain = Symbol();
/** Values that are nested deeper are copied by way of a JSON text, which finds cycles. */
const deepest = 100;

function copy<T>(value: T, isFrozen: boolean): T {
  const copied = copyPlain(value, isFrozen, deepest);
  if (copied !== notPlain) return copied as T;
  const parsed = JSON.parse(JSON.stringify(value)) as T;
  if (isFrozen) freeze(parsed);
  return parsed;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) freeze(member);
  Object.freeze(value);
}

/** `notPlain` for what JSON would change. */
function copyPlain(value: unknown, isFrozen: boolean, depth: number): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON knows no -0.
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : notPlain;
  if (typeof value !== "object" || depth === 0 || "toJSON" in value) return notPlain;
  const copied = Array.isArray(value) ? copyItems(value, isFrozen, depth) : copyMembers(value, isFrozen, depth);
  return isFrozen && copied !== notPlain ? Object.freeze(copied) : copied;
}

function copyItems(items: readonly unknown[], isFrozen: boolean, depth: number): unknown {
  const copied: unknown[] = [];
  for (const item of items) {
    const member = copyPlain(item, isFrozen, depth - 1);
    if (member === notPlain) return notPlain;
    copied.push(member);
  }
  return copied;
}

function copyMembers(value: object, isFrozen: boolean, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return notPlain;
  const copied: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const own = key === "__proto__" ? notPlain : copyPlain(member, isFrozen, depth - 1);
    if (own === notPlain) return notPlain;
    copied[key] = own;
  }
  return copied;
}

/** Returns whether a text in a value has more than so many UTF-16 units. */
export function holdsLongText(value: unknown, most: number): boolean {
  if (typeof value === "string") return value.length > most;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (holdsLongText(item, most)) return true;
    return false;
  }
  for (const key in value) if (holdsLongText((value as Record<string, unknown>)[key], most)) return true;
  return false;
}
