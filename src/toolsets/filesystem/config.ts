import { isRecord } from "../../protocol/json.ts";
import type { Schema, SchemaIssue } from "../../schema/schema.ts";
import { nearestNames } from "../../util/nearest-names.ts";

export interface FilesystemConfig {
  /** Names of the scopes that this instance sees; absent: all of its worker. */
  readonly scopes?: readonly string[];
  /** The most characters that one read gives back. */
  readonly max_chars: number;
  /** The most files or lines that one list or search gives back. */
  readonly max_entries: number;
}

const fields = {
  scopes: {
    type: "array",
    items: { type: "string" },
    description: "Names of the scopes that these tools see. Default: all scopes of the worker.",
  },
  max_chars: { type: "integer", minimum: 1, default: 20_000, description: "The most characters that one read_file returns." },
  max_entries: {
    type: "integer",
    minimum: 1,
    default: 1000,
    description: "The most files or lines that one list or search returns.",
  },
} as const;

export const configSchema: Schema<FilesystemConfig> = {
  jsonSchema: { type: "object", properties: fields, additionalProperties: false },
  validate(value) {
    const given = value ?? {};
    if (!isRecord(given)) return { ok: false, issues: [{ path: [], message: "must be a map" }] };
    const { scopes, max_chars = fields.max_chars.default, max_entries = fields.max_entries.default } = given;
    const issues = [...unknownKeys(given), ...scopesIssues(scopes), ...countIssues({ max_chars, max_entries })];
    if (issues.length > 0) return { ok: false, issues };
    const numbers = { max_chars: max_chars as number, max_entries: max_entries as number };
    return { ok: true, value: scopes === undefined ? numbers : { ...numbers, scopes: scopes as readonly string[] } };
  },
};

function unknownKeys(given: Record<string, unknown>): SchemaIssue[] {
  const known = Object.keys(fields);
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const [near] = nearestNames(key, known);
      return {
        path: [key],
        message: near === undefined ? `is unknown; known are ${known.join(", ")}` : `is unknown; did you mean ${near}?`,
      };
    });
}

function scopesIssues(scopes: unknown): SchemaIssue[] {
  if (scopes === undefined) return [];
  if (!Array.isArray(scopes)) return [{ path: ["scopes"], message: "must be a list of names" }];
  return scopes.flatMap((name, index) =>
    typeof name === "string" ? [] : [{ path: ["scopes", index], message: "must be a name" }],
  );
}

function countIssues(counts: Record<string, unknown>): SchemaIssue[] {
  return Object.entries(counts).flatMap(([key, count]) =>
    Number.isSafeInteger(count) && (count as number) > 0 ? [] : [{ path: [key], message: "must be a whole number from 1" }],
  );
}
