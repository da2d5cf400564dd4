import type { Worker } from "../../program/program.ts";
import type { ServerTool } from "../../protocol/tool.ts";
import { enablingCall, serverSideTools } from "../../toolsets/server-side-tools.ts";
import type { CallRequest } from "../config.ts";
import { toGatedCall } from "../worker-runtime.ts";

/** Lists the tools of its provider that a worker may use. */
export interface GrantedServerTools {
  readonly granted: readonly ServerTool[];
  readonly denied: readonly ServerTool[];
}

const nothing: GrantedServerTools = Object.freeze({ granted: [], denied: [] });

/**
 * Enables tools of the provider. Their calls never come by here, so that enabling one is what passes the gate: once in a run
 * for each worker and tool, as a call of `server:TYPE` with the tool's bounds as arguments.
 */
export class ServerToolGrants {
  readonly #byWorker = new Map<string, Promise<GrantedServerTools>>();
  readonly #isDenied: boolean;

  /** `denied`: none is granted, and nobody is asked. */
  constructor(how: "asked" | "denied" = "asked") {
    this.#isDenied = how === "denied";
  }

  /** Asks for all that the program's workers want, one after another. Rejects on abort and on a policy stop. */
  async askAll(request: CallRequest): Promise<void> {
    const { workers } = request.run.program;
    for (const worker of workers.values()) if (worker.serverTools.length > 0) await this.of(request, worker);
  }

  /** Returns the grants of a worker, at once where it wants none. Asks now for a worker that did not exist when the run started. */
  of(request: CallRequest, worker: Worker): Promise<GrantedServerTools> | GrantedServerTools {
    if (worker.serverTools.length === 0) return nothing;
    if (this.#isDenied) return { granted: [], denied: worker.serverTools };
    const { activity } = request.run;
    const { callPath } = request;
    const known = this.#byWorker.get(worker.id) ?? askFor(request, worker).finally(activity.begin(callPath));
    this.#byWorker.set(worker.id, known);
    return activity.wait(callPath, known);
  }
}

/** For the model: what its instructions may speak of, and is not there. */
export function describeDenied({ denied }: GrantedServerTools): string {
  return `Not available in this run, because nobody approved it: ${denied.map(({ type }) => type).join(", ")}. Do without, and say so where it matters.`;
}

async function askFor(request: CallRequest, worker: Worker): Promise<GrantedServerTools> {
  const granted: ServerTool[] = [];
  const denied: ServerTool[] = [];
  for (const tool of worker.serverTools) ((await isGranted(request, worker, tool)) ? granted : denied).push(tool);
  return { granted, denied };
}

async function isGranted(request: CallRequest, worker: Worker, tool: ServerTool): Promise<boolean> {
  const { run } = request;
  const gated = run.gate.gate(serverSideTools(worker));
  const scopes = await run.openScopes([]);
  const context = { ...request, worker, model: worker.model, scopes, attachments: [], budget: run.budget, reach: [] };
  const keyPrefix = `${worker.id} server:${tool.type} `;
  const { takeSlot: _, ...call } = toGatedCall(context, enablingCall(tool, worker));
  try {
    return (await gated.call({ ...call, keyPrefix })).ok;
  } finally {
    await scopes.close();
  }
}
