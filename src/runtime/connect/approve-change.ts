import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { type ConnectionChange, needsApproval, type Tool, toolFailure, toolMark, toolsetMark } from "../../toolsets/toolset.ts";
import type { RuntimeConfig } from "../config.ts";
import { toGatedCall } from "../worker-runtime.ts";
import type { ConnectingCall } from "./connections.ts";

export interface ChangedConnection {
  /** The toolset's. */
  readonly reference: string;
  /** Key of the connection among the effects of its call. */
  readonly key: string;
  readonly change: ConnectionChange;
}

/**
 * Asks for the changed definitions of a connection: as a call of the tool `connect`, which accepts them. Rejects with a `ToolFailure`
 * if they are not approved.
 */
export async function approveChange(
  run: RuntimeConfig,
  { reference, key, change }: ChangedConnection,
  { callPath, depth, signal }: ConnectingCall,
): Promise<void> {
  const gated = run.gate.gate(changeBinding(reference, change));
  const scopes = await run.openScopes([]);
  const worker = { name: reference, description: "" };
  const context = {
    ...{ run, callPath, depth, worker, scopes, signal },
    model: undefined,
    attachments: [],
    budget: run.budget,
    reach: [],
  };
  const { takeSlot: _, ...call } = toGatedCall(context, { name: "connect", args: { server: change.name } });
  try {
    const result = await gated.call({ ...call, keyPrefix: `${key} ${change.name} ` });
    if (result.ok) return;
    const why = `the tools of \`${change.name}\` (${reference}) have changed since they were approved: ${result.error.error}`;
    throw toolFailure("unavailable", why, "approve the change when the run asks");
  } finally {
    await scopes.close();
  }
}

function changeBinding(reference: string, { name, before, after, accept }: ConnectionChange) {
  const verdict = needsApproval("its tools are not those that were approved", "rule");
  const tool: Tool = {
    [toolMark]: true,
    name: "connect",
    description: "Accepts changed definitions of tools.",
    input: fromJsonSchema({ type: "object" }),
    execute: async () => {
      await accept();
      return null;
    },
  };
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name: "connect",
    tools: () => [tool],
    needsApproval: () => verdict,
    describeCall: () => `Use the changed tools of ${name}`,
    preview: () => ({ type: "diff" as const, path: `tools of ${name}`, before, after }),
  });
  return { reference, toolset, config: undefined, approvals: new Map<string, boolean>(), tools: [tool], fromCode: true } as const;
}
