import type { GatedToolset } from "../approval/gate-types.ts";
import type { CallConfig } from "./config.ts";
import { workerToolset } from "./worker-toolset.ts";

export type ToolsetPlace = Pick<CallConfig, "run" | "worker" | "depth" | "account">;

/** The toolsets of one call of a worker, each behind the gate. */
export function gateToolsets({ run, worker, depth, account }: ToolsetPlace): readonly GatedToolset[] {
  return worker.toolsets.map((reference) => {
    if (reference.kind === "toolset") return run.gate.gate(reference.binding);
    const toolset = workerToolset(reference.worker(), { run, depth, caller: worker, account });
    const tools = toolset.tools(undefined, { worker: worker.name, readable: [], writable: [], networkEnabled: false });
    const { prefix, approvals } = reference;
    return run.gate.gate({
      reference: reference.reference,
      toolset,
      config: undefined,
      approvals,
      tools,
      ...(prefix === undefined ? {} : { prefix }),
    });
  });
}
