import { isRecord } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";

/** Returns a server's words about an error, in any of the usual forms of a body. Undefined if there are none. */
export function describeErrorBody(body: unknown): string | undefined {
  if (typeof body !== "string") return undefined;
  const parsed = parseJson(body);
  if (parsed === undefined) return withoutTags(body);
  return describeReported(parsed) ?? (body.length > "[{}]".length ? withoutTags(body) : undefined);
}

const deepest = 8;

/** Like `describeErrorBody`, for a parsed body. */
export function describeReported(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value.trim() || undefined;
  if (depth > deepest) return undefined;
  const describe = (inner: unknown) => describeReported(inner, depth + 1);
  if (Array.isArray(value)) return joinWords(value.slice(0, 5).map(describe));
  if (!isRecord(value)) return undefined;
  const { error, message, msg, loc, detail, details, errors, description, error_description: more, metadata } = value;
  // The first is often a general one (Bad Request), and says nothing of what was wrong.
  const said = joinWords([message, msg, error, detail, details, errors, description, more].map(describe));
  const place = Array.isArray(loc) ? ` (${loc.join(".")})` : "";
  const upstream = isRecord(metadata) ? describeUpstream(metadata) : undefined;
  return joinWords([said === undefined ? undefined : `${said}${place}`, upstream]);
}

/** A gateway reports the error of the server behind it in `metadata`. */
function describeUpstream({ raw, provider_name: provider }: Record<string, unknown>): string | undefined {
  const said = typeof raw === "string" ? describeErrorBody(raw) : describeReported(raw);
  if (typeof provider !== "string") return said;
  return said === undefined ? provider : `${provider}: ${said}`;
}

function joinWords(words: readonly (string | undefined)[]): string | undefined {
  const said = words.filter((word) => word !== undefined && word !== "");
  return said.length === 0 ? undefined : [...new Set(said)].join("; ");
}

function withoutTags(text: string): string | undefined {
  const bare = text.replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
  return bare.replace(/\s+/g, " ").trim() || undefined;
}
