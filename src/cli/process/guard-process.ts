import { AsyncLocalStorage } from "node:async_hooks";
import { environmentSecrets, Redactor } from "../../util/secrets/redactor.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { isDebugging } from "../debugging.ts";
import { StrayFailure } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";

/** The runs of a server: finds the one whose code threw. */
export class StrayOwners {
  readonly #owner = new AsyncLocalStorage<(reason: Error) => void>();

  /** Begins a run. `abort` ends it if its code throws in a timer or a listener. */
  readonly within = <T>(abort: (reason: Error) => void, begin: () => T): T => this.#owner.run(abort, begin);

  /** Ends the run whose code threw. Returns false if it is not known. */
  end(failure: StrayFailure): boolean {
    const abort = this.#owner.getStore();
    if (!abort) return false;
    writeStderr(`llm-do: ${show(failure.message)}; its run ends, and others go on\n`);
    abort(failure);
    return true;
  }
}

/**
 * Keeps what a program's code does beside its calls from ending the run in disorder. An unhandled rejection is
 * reported; an exception in a timer or a listener ends the run of `owners` that it belongs to, or aborts the controller.
 */
export function guardProcess(controller: AbortController, flags: { readonly debug?: boolean }, owners?: StrayOwners): Disposable {
  const rejected = (reason: unknown) => {
    const stack = isDebugging(flags) && reason instanceof Error ? `\n${show(reason.stack ?? "")}` : "";
    writeStderr(`llm-do: warning: a promise was rejected, and nobody listens to it: ${show(errorMessage(reason))}${stack}\n`);
  };
  const thrown = (cause: unknown) => {
    const failure = new StrayFailure(cause);
    if (!owners?.end(failure)) controller.abort(failure);
  };
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
