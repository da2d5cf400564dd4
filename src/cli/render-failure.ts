import { CompileError } from "../compile/compile-error.ts";
import { renderDiagnostics } from "../diagnostics/render-diagnostic.ts";
import { RunError } from "../runtime/run-error.ts";
import { errorMessage } from "../util/error-message.ts";
import { errorStacks } from "../util/error-stacks.ts";
import { escapeText } from "../util/escape-text.ts";

/** What went wrong: diagnostics, or one line, and with `--debug` where: the stacks of the error and of what caused it. */
export function renderFailure(thrown: unknown, { debug = false }: { readonly debug?: boolean }): string {
  if (thrown instanceof CompileError) return `${renderDiagnostics(thrown.diagnostics)}\n`;
  const hint = isOfJournal(thrown) ? "; --no-journal runs without one" : "";
  const message = `llm-do: ${escapeText(errorMessage(thrown), { keepNewlines: true, keepBackslashes: true })}${hint}\n`;
  return debug ? `${message}${stacks(thrown)}` : message;
}

/** `JournalError` is known by its name: its file is not worth loading for `--help`. */
function isOfJournal(thrown: unknown): boolean {
  return thrown instanceof RunError ? thrown.code === "journal" : thrown instanceof Error && thrown.name === "JournalError";
}

/** Of a run without its secrets; before there was one, as it is. */
function stacks(thrown: unknown): string {
  const text = (thrown instanceof RunError ? thrown.trace : undefined) ?? errorStacks(thrown);
  return text === "" ? "" : `${escapeText(text, { keepNewlines: true, keepBackslashes: true })}\n`;
}
