import { relative, resolve } from "node:path";
import type { StepOfProgram } from "../boundary/candidate.ts";
import { createNodeHost } from "../host/node-host.ts";
import type { Outline, OutlinedWorker } from "../protocol/outline.ts";
import { quoteNames } from "../util/did-you-mean.ts";
import { nearestNames } from "../util/nearest-names.ts";
import { UsageError } from "./exit-codes.ts";
import { compileToShow } from "./open-program.ts";
import { requireTrust } from "./require-trust.ts";
import type { SignalListener } from "./signals.ts";
import { findTerminal } from "./terminal.ts";

/** The step of a program, as its copies need it. Rejects with a `UsageError` where the program has no such worker. */
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

interface WorkerOfProgram {
  readonly outline: Outline;
  readonly worker: OutlinedWorker;
}

/** Rejects with a `UsageError` that names the next step. */
export async function requireWorker(step: string, target: string | undefined): Promise<WorkerOfProgram> {
  const found = await findWorker(step, target);
  if ("worker" in found) return found;
  throw new UsageError(`the program has no worker \`${step}\`; ${found.hint}`);
}

/** A worker that the entry of a program reaches, or one that lies in its folder. `hint` says where else it may be. */
export async function findWorker(step: string, target: string | undefined): Promise<WorkerOfProgram | { readonly hint: string }> {
  const { outline, diagnostics } = await compileToShow([target ?? "."], {});
  const reached = outline?.workers.filter(({ name }) => name === step) ?? [];
  if (reached.length > 1)
    throw new UsageError(`the program has ${reached.length} workers \`${step}\`: name the file of one as the target`);
  const [worker] = reached;
  if (outline && worker) return { outline, worker };
  const isFile = target?.endsWith(".worker") ?? false;
  const unreached = isFile ? undefined : await compileToShow([target ?? "."], { entry: step });
  const own = unreached?.outline?.workers.find(({ name }) => name === step);
  if (unreached?.outline && own) return { outline: unreached.outline, worker: own };
  const [mistake] = diagnostics.filter(({ severity }) => severity === "error");
  if (!outline) throw new UsageError(`the program does not compile: ${mistake?.message ?? ""} (llm-do check says more)`);
  return { hint: await hintOn(step, outline) };
}

async function hintOn(step: string, { root, workers }: Outline): Promise<string> {
  const { glob } = await import("node:fs/promises");
  const ignored = (path: string) => path.includes("node_modules");
  const files: string[] = [];
  for await (const path of glob(`**/${step}.worker`, { cwd: root, exclude: ignored })) files.push(path);
  const shown = files.map((path) => relative(process.cwd(), resolve(root, path)));
  if (shown.length > 0) return `name the file as the target: ${quoteNames(shown, " or ")}`;
  const names = [...new Set(workers.map(({ name }) => name))];
  const near = nearestNames(step, names)[0];
  return near === undefined ? `its workers: ${names.join(", ")}` : `did you mean \`${near}\`?`;
}
