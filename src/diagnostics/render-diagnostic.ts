import { type Measure, renderCodeFrame, showText } from "./code-frame.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { hideSecrets } from "./hide-secrets.ts";

const countUnits: Measure = (text) => text.length;

/**
 * A diagnostic for a person: what, the place with its line, and the notes. Safe to print, whatever the source holds; secrets in it are
 * masked. Carets stand under
 * wide characters only with a `measure` that knows them.
 */
export function renderDiagnostic(diagnostic: Diagnostic, measure = countUnits): string {
  const { severity, code, message, span, notes } = hideSecrets(diagnostic);
  const lines = [`${severity}[${code}]: ${showText(message)}`];
  if (span !== undefined) lines.push(...renderCodeFrame(span, measure));
  for (const note of notes) {
    lines.push(...renderNote(note.message));
    if (note.span !== undefined) lines.push(...renderCodeFrame(note.span, measure));
  }
  return lines.join("\n");
}

/** Notes may have several lines (an example of what to write); each is shown on its own. */
function renderNote(message: string): string[] {
  const [first = "", ...rest] = message.split("\n");
  return [`  = note: ${showText(first)}`, ...rest.map((line) => `          ${showText(line)}`)];
}

/** All of them, with a blank line between two. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], measure = countUnits): string {
  return diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, measure)).join("\n\n");
}

/** Like `renderDiagnostics`, for a terminal. Loads the widths of characters only where a text is not plain ASCII. */
export async function renderForTerminal(diagnostics: readonly Diagnostic[]): Promise<string> {
  const text = renderDiagnostics(diagnostics);
  if (/^[\n -~]*$/.test(text)) return text;
  const { default: measure } = await import("string-width");
  return renderDiagnostics(diagnostics, measure);
}
