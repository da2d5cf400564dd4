import { CompileError } from "../compile/compile-error.ts";
import { renderForTerminal } from "../diagnostics/render-diagnostic.ts";
import { RunError } from "../runtime/run-error.ts";
import { errorMessage } from "../util/error-message.ts";
import { errorStacks } from "../util/error-stacks.ts";
import { escapeText } from "../util/escape-text.ts";

/** Renders diagnostics, or a message of one line; with `--debug` also the stacks of the error and of its causes. */
export async function renderFailure(thrown: unknown, { debug = false }: { readonly debug?: boolean }): Promise<string> {
  if (thrown instanceof CompileError) return `${await renderForTerminal(thrown.diagnostics)}\n`;
  const hint = isOfJournal(thrown) ? `; ${hintOfJournal(thrown)}` : "";
  const message = `llm-do: ${escapeText(errorMessage(thrown), { keepNewlines: true, keepBackslashes: true })}${hint}\n`;
  return debug ? `${message}${stacks(thrown)}` : message;
}

/** `JournalError` is known by its name: its file is not worth loading for `--help`. */
function isOfJournal(thrown: unknown): boolean {
  return thrown instanceof RunError ? thrown.code === "journal" : thrown instanceof Error && thrown.name === "JournalError";
}

/** A run that had begun can go on. */
function hintOfJournal(thrown: unknown): string {
  const runId = thrown instanceof RunError ? thrown.run?.runId : undefined;
  return runId === undefined ? "--no-journal runs without one" : `\`llm-do resume ${runId}\` goes on when it can be`;
}

/** Returns the stacks of an error; of a run, without its secrets. */
function stacks(thrown: unknown): string {
  const text = (thrown instanceof RunError ? thrown.trace : undefined) ?? errorStacks(thrown);
  return text === "" ? "" : `${escapeText(text, { keepNewlines: true, keepBackslashes: true })}\n`;
}
