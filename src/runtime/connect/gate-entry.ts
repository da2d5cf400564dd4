import type { JsonObject } from "../../protocol/json.ts";
import { entryToolset } from "../../toolsets/workers/entry-toolset.ts";
import type { CallRequest, WorkerInput } from "../config.ts";
import { RunError } from "../run-error.ts";
import { toGatedCall } from "../worker-runtime.ts";

/** Keeps the facts of the question apart from those of the calls that code of the entry makes. */
const keyPrefix = "entry ";

/**
 * Asks for the start of the entry, where the policy says so, and returns its input as it was approved. Rejects with a `RunError` `denied`,
 * on abort and on a policy stop.
 */
export async function gateEntry(request: CallRequest, given: WorkerInput): Promise<WorkerInput> {
  const { run, callPath } = request;
  if (!run.policy.gateEntry) return given;
  const { entry } = run.program;
  const owner = entry.kind === "worker" ? entry.worker : { name: entry.code.name, description: "" };
  const model = entry.kind === "worker" ? entry.worker.model : undefined;
  const gated = run.gate.gate(entryToolset({ name: owner.name, ...(model ? { model: model.recorded } : {}) }));
  const scopes = await run.openScopes([]);
  const context = { ...request, worker: owner, model, scopes, attachments: [], reach: [] };
  const { takeSlot: _, ...call } = toGatedCall(context, { name: owner.name, args: given.input });
  try {
    const result = await gated.call({ ...call, keyPrefix });
    if (result.ok) return { ...given, input: result.value as JsonObject };
    throw new RunError("denied", `the entry was not started: ${result.error.error}`, { callPath });
  } finally {
    await scopes.close();
  }
}
