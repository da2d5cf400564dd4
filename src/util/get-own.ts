/** Returns a member of the object itself. Names from a model or a file must never reach `constructor` or `__proto__`. */
export function getOwn<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
