import { isObject } from "../check-options.ts";

/** Returns a JSON value without the content of its file parts, whose digests stand for it. */
export function withoutFileContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFileContent);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([key]) => key !== "data" || value["type"] !== "file");
  return Object.fromEntries(members.map(([key, member]) => [key, withoutFileContent(member)]));
}
