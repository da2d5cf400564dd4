import { statSync } from "node:fs";
import type { Compiled } from "../compile/compile.ts";
import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import { type CompileRequest, compile, type RunRequest } from "../llm-do.ts";
import type { Outline } from "../protocol/outline.ts";
import type { Limits } from "../protocol/usage.ts";
import { checkLimits } from "../runtime/check-limits.ts";
import { errorMessage } from "../util/error-message.ts";
import { UsageError } from "./exit-codes.ts";
import { checkResultFile } from "./result-file.ts";
import type { RunFlags } from "./run-flags.ts";
import { fitInput, type GivenInput, type LinkedProgram, toPlainInput } from "./run-input.ts";
import type { RunWords } from "./run-words.ts";

/** What a run needs beside its input, its policy, and who listens. */
export type BaseRequest = Omit<RunRequest, "approval" | "input" | "onEvent">;

/** The request that words and flags make. Throws a `UsageError` that names the flag. */
export function createRequest(words: RunWords, flags: RunFlags, signal: AbortSignal): BaseRequest {
  const { attachment = [], entry, model, modelFor, set, scope, trust = false, journal, output } = flags;
  for (const path of attachment) checkAttachment(path);
  if (output !== undefined) checkResultFile(output);
  return {
    ...words.program,
    trust,
    signal,
    debug: flags.debug ?? false,
    deltas: verbosityOf(flags) >= 2,
    attachments: attachment.map((path) => ({ path })),
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...(modelFor ? { modelFor } : {}),
    ...(set ? { set } : {}),
    ...(scope ? { scopes: scope } : {}),
    ...(journal ? {} : { journal }),
    limits: limitsOf(flags),
    ...(flags.price ? { prices: flags.price } : {}),
  };
}

export function verbosityOf({ quiet, debug, verbose }: RunFlags): number {
  if (quiet) return 0;
  return debug ? Math.max(1, verbose) : verbose;
}

/** The input of a request; the program is compiled for it only where fields need their names and types. */
export async function withInput<T extends BaseRequest>(request: T, given: GivenInput): Promise<T & Pick<RunRequest, "input">> {
  const plain = await toPlainInput(given);
  const input = plain ? plain.input : await fitInput(given, (await compileToRun(request)).program);
  return input === undefined ? request : { ...request, input };
}

/** The program as a run would have it. Rejects with a `CompileError` or `UntrustedProgram`, as a run does. */
export async function compileToRun(
  request: BaseRequest & Pick<CompileRequest, "rules">,
): Promise<Pick<Compiled, "diagnostics"> & { readonly program: LinkedProgram; readonly outline: Outline }> {
  const { program, outline, reach, diagnostics, untrusted } = await compile({ ...request, toRun: true });
  if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  if (untrusted && reach) throw new UntrustedProgram(untrusted, reach);
  if (program && outline) return { program, outline, diagnostics };
  throw new Error("invariant: a program compiles without errors and is none");
}

function limitsOf({ limit = {}, maxDepth }: RunFlags): Limits {
  try {
    return checkLimits({ ...limit, ...(maxDepth === undefined ? {} : { depth: maxDepth }) });
  } catch (thrown) {
    throw new UsageError(`--limit: ${errorMessage(thrown)}`);
  }
}

function checkAttachment(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`--attachment ${path}: there is no such file`);
  if (!stats.isFile()) throw new UsageError(`--attachment ${path}: this is not a file`);
}
