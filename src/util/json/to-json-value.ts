/** Deeper values are rejected: recursive functions would overflow the stack. */
const deepest = 200;

/** Returns the JSON form of a value from code; undefined becomes null. Throws a `TypeError` for values without one. */
export function toJsonValue(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`a ${typeof value} is not a JSON value`);
  const copy: unknown = JSON.parse(text);
  if (isTooDeep(copy)) throw tooDeep();
  return copy;
}

function tooDeep(): TypeError {
  return new TypeError(`the value is nested more than ${deepest} levels deep`);
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, refuseCollection);
  } catch (thrown) {
    // The stack overflows; a cycle is a `TypeError`.
    throw thrown instanceof RangeError ? tooDeep() : thrown;
  }
}

/** JSON would make `{}` of them. */
function refuseCollection(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set)
    throw new TypeError(`a ${value.constructor.name} is not a JSON value: make an object or a list of it`);
  return value;
}

/** Returns whether a JSON value has members below so many levels. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (levels < 0) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((member) => isTooDeep(member, levels - 1));
}
