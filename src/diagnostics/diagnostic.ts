import type { Span } from "./source.ts";

export type Severity = "error" | "warning" | "hint";

/** One mistake of an author: its message, span, and how to fix it. Diagnostics are collected, never thrown one by one. */
export interface Diagnostic {
  /** A code of the catalogue, `unknown-key`: stable, documented, what tests assert. */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence; names are in back-ticks. */
  readonly message: string;
  /** Absent only if the mistake has no place in any text (a missing file on the command line). */
  readonly span?: Span;
  /** Notes: what to do, or where else to look. */
  readonly notes: readonly DiagnosticNote[];
}

export interface DiagnosticNote {
  readonly message: string;
  readonly span?: Span;
}
