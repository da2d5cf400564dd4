import { errorMessage } from "../util/error-message.ts";
import { escapeText } from "../util/escape-text.ts";
import { environmentSecrets, Redactor } from "../util/redactor.ts";
import { isDebugging } from "./debugging.ts";
import { StrayFailure } from "./exit-codes.ts";
import { writeStderr } from "./output.ts";

/**
 * Keeps what a program's code does beside its calls from ending the run in disorder. An unhandled rejection is
 * reported; an exception in a timer or a listener aborts the controller of the run.
 */
export function guardProcess(controller: AbortController, flags: { readonly debug?: boolean }): Disposable {
  const rejected = (reason: unknown) => {
    const stack = isDebugging(flags) && reason instanceof Error ? `\n${show(reason.stack ?? "")}` : "";
    writeStderr(`llm-do: warning: a promise was rejected, and nobody listens to it: ${show(errorMessage(reason))}${stack}\n`);
  };
  const thrown = (cause: unknown) => controller.abort(new StrayFailure(cause));
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", thrown);
  return {
    [Symbol.dispose]: () => {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", thrown);
    },
  };
}

function show(text: string): string {
  return escapeText(new Redactor(environmentSecrets(process.env)).text(text), { keepNewlines: true, keepBackslashes: true });
}
