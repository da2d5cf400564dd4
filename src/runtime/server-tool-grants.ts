import type { Worker } from "../program/program.ts";
import type { ServerTool } from "../protocol/tool.ts";
import { enablingCall, serverSideTools } from "../toolsets/server-side-tools.ts";
import type { CallPlace, RuntimeConfig } from "./config.ts";
import { toGatedCall } from "./worker-runtime.ts";

/** What a worker may use of the tools that its provider executes. */
export interface GrantedServerTools {
  readonly granted: readonly ServerTool[];
  readonly denied: readonly ServerTool[];
}

interface Asking extends CallPlace {
  readonly signal: AbortSignal;
}

/**
 * Enables tools of the provider. Their calls never come by here, so that enabling one is what passes the gate: once in a run
 * for each worker and tool, as a call of `server:TYPE` with the tool's bounds as arguments.
 */
export class ServerToolGrants {
  readonly #byWorker = new Map<string, Promise<GrantedServerTools>>();

  /** Asks for all that the program's workers want, one after another. Rejects on abort and on a policy stop. */
  async askAll(run: RuntimeConfig, asking: Asking): Promise<void> {
    for (const worker of run.program.workers.values()) await this.of(run, worker, asking);
  }

  /** What was settled for a worker; asked for now where the worker was not there when the run started. */
  of(run: RuntimeConfig, worker: Worker, asking: Asking): Promise<GrantedServerTools> {
    const known = this.#byWorker.get(worker.id) ?? askFor(run, worker, asking);
    this.#byWorker.set(worker.id, known);
    return known;
  }
}

/** For the model: what its instructions may speak of, and is not there. */
export function describeDenied({ denied }: GrantedServerTools): string {
  return `Not available in this run, because nobody approved it: ${denied.map(({ type }) => type).join(", ")}. Do without, and say so where it matters.`;
}

async function askFor(run: RuntimeConfig, worker: Worker, asking: Asking): Promise<GrantedServerTools> {
  const granted: ServerTool[] = [];
  const denied: ServerTool[] = [];
  for (const tool of worker.serverTools) ((await isGranted(run, worker, { ...asking, tool })) ? granted : denied).push(tool);
  return { granted, denied };
}

async function isGranted(
  run: RuntimeConfig,
  worker: Worker,
  { tool, callPath, depth, signal }: Asking & { readonly tool: ServerTool },
): Promise<boolean> {
  const gated = run.gate.gate(serverSideTools(worker));
  const scopes = await run.openScopes([]);
  const model = worker.model?.id;
  const place = { run, callPath, depth, caller: worker, model, scopes, attachments: [], account: run.account, signal, reach: [] };
  const keyPrefix = `${worker.id} server:${tool.type} `;
  const { takeSlot: _, ...request } = toGatedCall(place, enablingCall(tool, worker));
  try {
    return (await gated.call({ ...request, keyPrefix })).ok;
  } finally {
    await scopes.close();
  }
}
