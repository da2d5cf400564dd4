import type { GatedToolset } from "../../approval/gate-types.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import { type CalledWorker, type WorkerSource, workerToolset } from "../../toolsets/workers/worker-toolset.ts";
import type { CallConfig, CallFrame } from "../config.ts";

/** The workers that were created in a run: over the frozen program, and only ever more of them. */
export class CreatedWorkers {
  readonly #byId = new Map<string, Worker>();
  readonly #byName = new Map<string, WorkerSource>();

  add(created: WorkerSource): void {
    const worker = created.worker();
    if (!isLinked(worker)) throw new Error(`invariant: the created worker ${created.name} is not linked`);
    this.#byId.set(worker.id, worker);
    this.#byName.set(created.name, created);
  }

  get(id: string): Worker | undefined {
    return this.#byId.get(id);
  }

  /** The latest one of this name. */
  named(name: string): WorkerSource | undefined {
    return this.#byName.get(name);
  }
}

function isLinked(worker: CalledWorker): worker is Worker {
  return "render" in worker;
}

/** A created worker as a tool of the call that created it, and the ordinal of the call within that. */
export interface CreatedTool {
  readonly ordinal: number;
  readonly toolset: GatedToolset;
}

/** Adds a created worker to the run, and to what the call that created it is offered from its next turn on. */
export function addCreated(
  { run, toolsets }: Pick<CallConfig, "run" | "toolsets">,
  frame: CallFrame,
  ordinal: number,
  created: WorkerSource,
): void {
  run.created.add(created);
  // A tool that was found when its toolset connected keeps its name.
  if (toolsets.some((toolset) => toolset.has(created.name))) return;
  const first = frame.created.get(created.name)?.ordinal ?? ordinal;
  frame.created.set(created.name, { ordinal: first, toolset: run.gate.gate(referenceTo(created)) });
}

/** A created worker as a toolset of one tool. No file can pre-approve it: none names it yet. */
function referenceTo(created: WorkerSource): ToolsetReference {
  const { name } = created;
  return { reference: name, approvals: new Map(), fromCode: true, ...workerToolset(created) };
}
