export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** `T`, if all that it holds is JSON: `JsonValue` alone refuses interfaces, which have no index signature. */
export type AsJson<T> = T extends JsonValue
  ? T
  : T extends (...args: never) => unknown
    ? never
    : T extends object
      ? { readonly [K in keyof T]: AsJson<T[K]> }
      : never;

/** A plain object of any content; arrays, null and class instances other than records are not. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The records in a list; none in anything else. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
