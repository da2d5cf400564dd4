import { catalogue, type DiagnosticCode } from "./catalogue.ts";
import type { Diagnostic, DiagnosticNote } from "./diagnostic.ts";
import type { Span } from "./source.ts";

export interface DiagnosticDetails {
  readonly message: string;
  readonly span?: Span | undefined;
  /** A note of one sentence: what to do. */
  readonly note?: string | undefined;
  /** Further notes, or notes with a place. */
  readonly notes?: readonly DiagnosticNote[];
}

/** Reports a diagnostic. Returns undefined, so that a reader without a value can return the call. */
export type Report = (code: DiagnosticCode, details: DiagnosticDetails) => undefined;

/** Makes a diagnostic of a catalogued code; the catalogue sets its severity. */
export function diagnose(code: DiagnosticCode, { message, span, note, notes = [] }: DiagnosticDetails): Diagnostic {
  const all = note === undefined ? notes : [...notes, { message: note }];
  return { code, severity: catalogue[code].severity, message, ...(span && { span }), notes: all };
}
