import { CompileError } from "../../compile/compile-error.ts";
import { maskCredentials } from "../../diagnostics/hide-secrets.ts";
import { renderForTerminal } from "../../diagnostics/render-diagnostic.ts";
import { RunError } from "../../runtime/run-error.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { errorStacks } from "../../util/text/error-stacks.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { asStarted } from "../command-name.ts";
import { type RepeatedFlags, resumeLine } from "../records/resume-line.ts";

interface FailureFlags extends RepeatedFlags {
  readonly debug?: boolean;
}

/** Renders diagnostics, or a message of one line; with `--debug` also the stacks of the error and of its causes. */
export async function renderFailure(thrown: unknown, { debug = false, ...flags }: FailureFlags): Promise<string> {
  if (thrown instanceof CompileError) return `${asStarted(await renderForTerminal(thrown.diagnostics))}\n`;
  const todo = hintOfJournal(thrown, flags);
  const hint = todo === undefined ? "" : `; ${todo}`;
  const text = asStarted(maskCredentials(errorMessage(thrown)));
  const message = `llm-do: ${escapeText(text, { keepNewlines: true, keepBackslashes: true })}${hint}\n`;
  return debug ? `${message}${stacks(thrown)}` : message;
}

/** Returns what to do about a journal. Its errors are known by their names: their files are not worth loading for `--help`. */
function hintOfJournal(thrown: unknown, flags: RepeatedFlags): string | undefined {
  const failed = [thrown, thrown instanceof RunError ? thrown.cause : undefined].find(
    (one) => one instanceof Error && hints[one.name],
  );
  const runId = thrown instanceof RunError ? thrown.run?.runId : undefined;
  return failed instanceof Error
    ? hints[failed.name]?.(failed, runId === undefined ? undefined : resumeLine(runId, flags))
    : undefined;
}

const hints: Readonly<
  Record<string, (error: Error & { readonly isNew?: boolean }, goOn: string | undefined) => string | undefined>
> = {
  JournalError: ({ isNew }, goOn) => {
    if (goOn !== undefined) return `\`${goOn}\` goes on when it can be`;
    return isNew ? "--store FOLDER records it elsewhere, and --no-journal not at all" : "make it writable, and try again";
  },
  UnreadableJournal: ({ message }) =>
    message.includes("has version") ? undefined : "restore the run's folder from a copy, or begin the run anew",
};

/** Returns the stacks of an error; of a run, without its secrets. */
function stacks(thrown: unknown): string {
  const text = (thrown instanceof RunError ? thrown.trace : undefined) ?? errorStacks(thrown);
  return text === "" ? "" : `${escapeText(text, { keepNewlines: true, keepBackslashes: true })}\n`;
}
