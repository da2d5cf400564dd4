/**
 * JSON with sorted keys and no spaces: the one form in which values are compared and digested. Members that are
 * `undefined` are left out, as JSON does.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const record = member as Record<string, unknown>;
    const sorted: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(record).sort()) sorted[key] = record[key];
    return sorted;
  });
}
