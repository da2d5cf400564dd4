import { relative } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import { findFiles } from "../host/files/find-files.ts";
import type { Outline, OutlinedWorker } from "../protocol/outline.ts";
import { quoteNames } from "../util/text/did-you-mean.ts";
import { nearestNames } from "../util/text/nearest-names.ts";
import { CandidateError } from "./candidate.ts";

export interface WorkerOfProgram {
  readonly outline: Outline;
  readonly worker: OutlinedWorker;
}

/** A program that is looked into. */
export interface SearchedProgram {
  /** Paths in messages are relative to it. */
  readonly workingDirectory: string;
  /** Compiles the program, from another entry where one is named. */
  compile(entry?: string): Promise<Compiled>;
}

/** Rejects with a `CandidateError` that names the next step. */
export async function requireWorker(step: string, program: SearchedProgram): Promise<WorkerOfProgram> {
  const found = await findWorker(step, program);
  if ("worker" in found) return found;
  throw new CandidateError(`the program has no worker \`${step}\`; ${found.hint}`);
}

/**
 * Finds a worker that the entry of a program reaches, or one that lies in its folder. `hint` says where else it may be. Rejects with a
 * `CandidateError` if two have the name, and if the program does not compile.
 */
export async function findWorker(step: string, program: SearchedProgram): Promise<WorkerOfProgram | { readonly hint: string }> {
  const { outline, diagnostics } = await program.compile();
  const reached = outline?.workers.filter(({ name }) => name === step) ?? [];
  if (reached.length > 1)
    throw new CandidateError(`the program has ${reached.length} workers \`${step}\`: name the file of one as the target`);
  const [worker] = reached;
  if (outline && worker) return { outline, worker };
  const unreached = await program.compile(step);
  const own = unreached.outline?.workers.find(({ name }) => name === step);
  if (unreached.outline && own) return { outline: unreached.outline, worker: own };
  const [mistake] = diagnostics.filter(({ severity }) => severity === "error");
  if (!outline) throw new CandidateError(`the program does not compile: ${mistake?.message ?? ""} (llm-do check says more)`);
  return { hint: await hintOn(step, outline, program) };
}

async function hintOn(step: string, { root, workers }: Outline, { workingDirectory }: SearchedProgram): Promise<string> {
  const files = await findFiles(root, `${step}.worker`);
  const shown = files.map((path) => relative(workingDirectory, path));
  if (shown.length > 0) return `name the file as the target: ${quoteNames(shown, " or ")}`;
  const names = [...new Set(workers.map(({ name }) => name))];
  const near = nearestNames(step, names)[0];
  return near === undefined ? `its workers: ${names.join(", ")}` : `did you mean \`${near}\`?`;
}
