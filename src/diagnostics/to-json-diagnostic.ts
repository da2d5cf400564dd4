import { escapeText } from "../util/text/escape-text.ts";
import type { Diagnostic, DiagnosticNote, Severity } from "./diagnostic.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { positionAt } from "./position.ts";
import type { Span } from "./source.ts";

export interface JsonDiagnostic extends JsonPlace {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly notes: readonly JsonDiagnosticNote[];
}

export interface JsonDiagnosticNote extends JsonPlace {
  readonly message: string;
}

/** Absent if a diagnostic has no place. Lines and columns count from 1; the end is the first column after the span. */
export interface JsonPlace {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly endLine?: number;
  readonly endColumn?: number;
}

/** A diagnostic for a program. Its messages are escaped like those for a person; `file` is the name as it is. */
export function toJsonDiagnostic(diagnostic: Diagnostic): JsonDiagnostic {
  const { code, severity, message, span, notes } = hideSecrets(diagnostic);
  return { code, severity, message: showMessage(message), ...toJsonPlace(span), notes: notes.map(toJsonNote) };
}

function toJsonNote(note: DiagnosticNote): JsonDiagnosticNote {
  return { message: showMessage(note.message), ...toJsonPlace(note.span) };
}

function showMessage(message: string): string {
  return escapeText(message, { keepNewlines: true, keepBackslashes: true });
}

function toJsonPlace(span: Span | undefined): JsonPlace {
  if (span === undefined) return {};
  const start = positionAt(span.source, span.start);
  const end = positionAt(span.source, span.end);
  return { file: span.source.name, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}
