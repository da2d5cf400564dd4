/** A mistake in the files of a program, and what is reported of it. */
export interface Mistake {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Null where none is passed: the files name one. */
  readonly model?: null;
  /** `code file:line:column severity`, for each diagnostic. */
  readonly reports: readonly string[];
  /** Words that help: a note of a diagnostic, or its message where it has none. */
  readonly says: readonly string[];
}

/** A program whose worker names the tool `w`, and its `tools.ts`. */
export function withTools(code: string): Mistake["files"] {
  return { "main.worker": "---\ntoolsets: { w: {} }\n---\nYou help.\n", "tools.ts": code };
}

/** By a title. */
export type Mistakes = Readonly<Record<string, Mistake>>;
