import { type ForkPoint, fork } from "../../../front/llm-do.ts";
import { findRun } from "../../records/find-runs.ts";
import { readCompiled } from "../../records/recorded-program.ts";
import { playRecorded } from "../../run/play-recorded.ts";
import type { RunFlags } from "../../run/run-flags.ts";
import { fitInput, type GivenInput, readInput } from "../../run/run-input.ts";

export interface ForkFlags extends RunFlags {
  readonly at?: ForkPoint;
}

export interface ForkWords {
  readonly run: string;
  /** Undefined for the recorded input. */
  readonly prompt: string | undefined;
  /** True if the prompt followed `--`. */
  readonly isLiteral: boolean;
}

/** `llm-do fork RUN [PROMPT]`: a new run that begins with recorded answers. Returns the exit code. */
export function forkCommand({ run, prompt: text, isLiteral }: ForkWords, flags: ForkFlags): Promise<number> {
  const { at, attachment = [] } = flags;
  const words = { targets: [], ...(text === undefined ? {} : { prompt: { text, isLiteral } }) };
  const isNew = text !== undefined || flags.input !== undefined || flags.inputJson !== undefined || attachment.length > 0;
  let given: GivenInput | undefined;
  return playRecorded(flags, {
    find: async (signal) => {
      const found = await findRun({ run, changes: true });
      if (isNew) given = await readInput(words, flags, { signal, onWait: () => undefined });
      return { found, compiled: await readCompiled(found) };
    },
    play: async (request) => {
      const input = given && (await fitInput(given, request.program));
      return fork({ ...request, ...(at ? { at } : {}), ...(given ? { input: input ?? {} } : {}) });
    },
  });
}
