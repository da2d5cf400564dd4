import type { JsonSchema } from "../protocol/tool.ts";

/**
 * The one form in which llm-do holds a schema, whatever it was written in: what a model gets (`jsonSchema`,
 * JSON Schema 2020-12) and how a value is checked. `validate` may return another value than it got (defaults, coercions).
 */
export interface Schema<T = unknown> {
  /** Throws a `TypeError` before `settle` if that is there. */
  readonly jsonSchema: JsonSchema;
  /** Present if a library has to be loaded to know `jsonSchema`. Rejects if that cannot be said. */
  readonly settle?: () => Promise<void>;
  validate(value: unknown): Validation<T> | Promise<Validation<T>>;
}

export type Validation<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  /** Keys and indexes from the root of the value. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** One line for a model or a person: `name: must be string; scores.0: must be integer`. */
export function renderIssues(issues: readonly SchemaIssue[]): string {
  return issues.map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message)).join("; ");
}
