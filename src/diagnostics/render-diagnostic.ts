import { renderCodeFrame, showText } from "./code-frame.ts";
import type { Diagnostic } from "./diagnostic.ts";

/** A diagnostic for a person: what, the place with its line, and the notes. Safe to print, whatever the source holds. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  const { severity, code, message, span, notes } = diagnostic;
  const lines = [`${severity}[${code}]: ${showText(message)}`];
  if (span !== undefined) lines.push(...renderCodeFrame(span));
  for (const note of notes) {
    lines.push(...renderNote(note.message));
    if (note.span !== undefined) lines.push(...renderCodeFrame(note.span));
  }
  return lines.join("\n");
}

/** Notes may have several lines (an example of what to write); each is shown on its own. */
function renderNote(message: string): string[] {
  const [first = "", ...rest] = message.split("\n");
  return [`  = note: ${showText(first)}`, ...rest.map((line) => `          ${showText(line)}`)];
}

/** All of them, with a blank line between two. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map(renderDiagnostic).join("\n\n");
}
