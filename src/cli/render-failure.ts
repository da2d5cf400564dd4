import { RunError } from "../runtime/run-error.ts";
import { errorMessage } from "../util/error-message.ts";
import { escapeText } from "../util/escape-text.ts";

/** What went wrong in one line, and with `--debug` where: the stacks of the error and of what caused it. */
export function renderFailure(thrown: unknown, { debug = false }: { readonly debug?: boolean }): string {
  const hint = isOfJournal(thrown) ? "; --no-journal runs without one" : "";
  const message = `llm-do: ${escapeText(errorMessage(thrown), { keepNewlines: true, keepBackslashes: true })}${hint}\n`;
  return debug ? `${message}${stacks(thrown)}` : message;
}

/** `JournalError` is known by its name: its file is not worth loading for `--help`. */
function isOfJournal(thrown: unknown): boolean {
  return thrown instanceof RunError ? thrown.code === "journal" : thrown instanceof Error && thrown.name === "JournalError";
}

function stacks(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  const cause = thrown.cause === undefined ? "" : `caused by:\n${stacks(thrown.cause) || `${String(thrown.cause)}\n`}`;
  const stack = escapeText(thrown.stack ?? errorMessage(thrown), { keepNewlines: true, keepBackslashes: true });
  return `${stack}\n${cause}`;
}
