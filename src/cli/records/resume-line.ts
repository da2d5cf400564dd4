import type { NextSteps } from "../../ui/records/render-waiting.ts";
import { commandLine, commandName, quoteWord } from "../command-name.ts";
import { isAddress } from "../grammar/store-option.ts";
import type { RunFlags } from "../run/run-flags.ts";

/** The flags of a run that its record does not stand for: they are the user's own word, and are given again. */
export type RepeatedFlags = Partial<
  Pick<
    RunFlags,
    | "approveAll"
    | "rejectAll"
    | "approve"
    | "deny"
    | "onDenied"
    | "approvalTimeout"
    | "scope"
    | "unisolated"
    | "trust"
    | "model"
    | "modelFor"
    | "set"
    | "store"
  >
>;

/** Stands for the line that goes on with a submitted run. */
export const executorGoesOn = "an executor";

/** Stands for the line that goes on with a run of workers in code. */
export const libraryGoesOn = "`resume` of the library, with the same `workers`,";

/** The line that goes on with a run, as it stands in a sentence. */
export function quoteGoOn(goOn: string): string {
  return goOn === executorGoesOn || goOn === libraryGoesOn ? goOn : `\`${goOn}\``;
}

/** The lines of a run that waits. `goOn`: by default as its flags say. */
export function waitingSteps(runId: string, flags: RepeatedFlags, goOn = resumeLine(runId, flags)): NextSteps {
  return {
    command: commandName(),
    flags: storeWords(flags)
      .map((word) => ` ${quoteWord(word)}`)
      .join(""),
    goOn,
  };
}

function storeWords({ store }: RepeatedFlags): readonly string[] {
  return store === undefined || isAddress(store) ? [] : ["--store", store];
}

/**
 * Returns the command line that goes on with a run that was started with these flags. Limits, prices, the entry and `--hold` are recorded, and so
 * are models that run no code. An address of a database is left out: it can hold a password.
 */
export function resumeLine(runId: string, flags: RepeatedFlags, limits: readonly string[] = []): string {
  const { model, modelFor = [], set = [], scope = {}, approve = [], deny = [], onDenied, approvalTimeout } = flags;
  const runsCode = (text: string) => /(?:^|=)scripted:/i.test(text);
  const option = (name: string, values: readonly (string | undefined)[]) =>
    values.flatMap((value) => (value === undefined ? [] : [name, value]));
  return commandLine(
    ...["resume", runId],
    ...option(
      "--model",
      [model].filter((text) => text !== undefined && runsCode(text)),
    ),
    ...option("--model-for", modelFor.filter(runsCode)),
    ...option("--set", set),
    ...option(
      "--scope",
      Object.entries(scope).map(([name, folder]) => `${name}=${folder}`),
    ),
    ...(flags.unisolated ? ["--unisolated"] : []),
    ...(flags.trust ? ["--trust"] : []),
    ...(flags.approveAll ? ["--approve-all"] : []),
    ...(flags.rejectAll ? ["--reject-all"] : []),
    ...option("--approve", approve),
    ...option("--deny", deny),
    ...option("--on-denied", [onDenied === "stop" ? onDenied : undefined]),
    ...option("--approval-timeout", [approvalTimeout === undefined ? undefined : String(approvalTimeout)]),
    ...storeWords(flags),
    ...option("--limit", limits),
  );
}
