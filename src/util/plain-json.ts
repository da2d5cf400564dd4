/** True for what JSON gives back as it is: no class instances, no accessors of its own, no `toJSON`. */
export function isPlainJson(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.every(isPlainJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlainJson);
}

/** A copy as JSON has it; undefined stays undefined. Throws for what JSON cannot hold (a cycle, a bigint). */
export function copyJson<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}

/** A copy as JSON, frozen all through. */
export function frozenJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, member: unknown) => Object.freeze(member)) as T;
}
