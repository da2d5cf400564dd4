import { catalogue, type DiagnosticCode } from "./catalogue.ts";
import type { Diagnostic, DiagnosticNote } from "./diagnostic.ts";
import type { Span } from "./source.ts";

/** Makes a diagnostic of a catalogued code; the catalogue says how severe it is. */
export function diagnose(
  code: DiagnosticCode,
  report: { readonly message: string; readonly span?: Span | undefined; readonly notes?: readonly DiagnosticNote[] },
): Diagnostic {
  const { message, span, notes = [] } = report;
  return { code, severity: catalogue[code].severity, message, ...(span && { span }), notes };
}
