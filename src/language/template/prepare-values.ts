import { isRecord } from "../../protocol/json.ts";
import type { ValueType, ValueTypes } from "./value-types.ts";

/**
 * A copy of a value for a template: plain data and nothing else, in which the fields that its schema declares and that
 * are absent are there, as null, so that they are known to be empty. They do not show when the value is printed.
 */
export function prepareValue(value: unknown, type: ValueType, types: ValueTypes | undefined): unknown {
  if (Array.isArray(value)) {
    const item = types?.item(type);
    return value.map((entry) => prepareValue(entry, item, types));
  }
  if (isRecord(value)) return prepareMap(value, type, types);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function prepareMap(value: Readonly<Record<string, unknown>>, type: ValueType, types: ValueTypes | undefined): object {
  const copy = Object.create(null) as object;
  const define = (key: string, member: unknown, enumerable: boolean): void => {
    Object.defineProperty(copy, key, { value: member, enumerable, configurable: true, writable: true });
  };
  for (const [key, member] of Object.entries(value)) {
    const known = types?.member(type, key);
    define(key, prepareValue(member, known?.found ? known.type : undefined, types), true);
  }
  for (const key of types?.declared(type) ?? []) if (!Object.hasOwn(copy, key)) define(key, null, false);
  return copy;
}
