import { resolve } from "node:path";
import { CandidateError, type StepOfProgram } from "../../boundary/candidate.ts";
import { findWorker as findIn, requireWorker as requireIn, type SearchedProgram } from "../../boundary/find-worker.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { UsageError } from "../exit-codes.ts";
import type { SignalListener } from "../process/signals.ts";
import { compileToShow } from "../programs/open-program.ts";
import { requireTrust } from "../programs/require-trust.ts";
import { findTerminal } from "../terminal/terminal.ts";

/** The step of a program, as its copies need it. Rejects with a `UsageError` if the program has no such worker. */
export async function findStep(
  step: string,
  target: string | undefined,
  { model, trust = false, signals }: { readonly model?: string; readonly trust?: boolean; readonly signals: SignalListener },
): Promise<StepOfProgram> {
  const { outline, worker } = await requireWorker(step, target);
  const { signal } = signals.controller;
  return {
    ...{ root: outline.root, target: resolve(target ?? "."), step, file: `${worker.id}.worker`, host: createNodeHost(), trust },
    ...(model === undefined ? {} : { model }),
    confirm: (compiled) => requireTrust(compiled, { terminal: findTerminal(signals), signal }),
  };
}

/** Rejects with a `UsageError` that names the next step. */
export function requireWorker(step: string, target: string | undefined) {
  return requireIn(step, searched(target)).catch(failAsUsage);
}

/** A worker that the entry of a program reaches, or one that lies in its folder. `hint` says where else it may be. */
export function findWorker(step: string, target: string | undefined) {
  return findIn(step, searched(target)).catch(failAsUsage);
}

function searched(target = "."): SearchedProgram {
  return {
    workingDirectory: process.cwd(),
    // A worker file is an entry already.
    compile: (entry) => compileToShow([target], entry === undefined || target.endsWith(".worker") ? {} : { entry }),
  };
}

/** A refusal of the boundary is a mistake in the words of a command. */
export function asUsage(thrown: unknown): unknown {
  return thrown instanceof CandidateError ? new UsageError(thrown.message) : thrown;
}

function failAsUsage(thrown: unknown): never {
  throw asUsage(thrown);
}
