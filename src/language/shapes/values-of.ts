import type { Spanned } from "../../diagnostics/source.ts";

export type ValuesOf<T> = { [K in keyof T]: Exclude<T[K], undefined> extends Spanned<infer V> ? V : never };

/** The values of a record of the syntax tree, without their spans. */
export function valuesOf<T extends object>(syntax: T): ValuesOf<T> {
  const entries = Object.entries(syntax as Record<string, Spanned<unknown>>).map(([key, { value }]) => [key, value]);
  return Object.fromEntries(entries) as ValuesOf<T>;
}
