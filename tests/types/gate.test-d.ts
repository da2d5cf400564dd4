// Compiled by `npm run types`, never run: each expected error must be one, or the compiler complains.

// @ts-expect-error the type of a grant has no name outside the gate
import type { Granted } from "../../src/approval/gate.ts";
import { createGate } from "../../src/approval/gate.ts";
import type { Gate, GatedToolset, GateOptions } from "../../src/approval/gate-types.ts";
import type { ApprovalPolicy, Approver } from "../../src/approval/policy.ts";
import type { CallConfig } from "../../src/runtime/config.ts";
import type { Tool, Toolset } from "../../src/toolsets/toolset.ts";

declare const gate: Gate;
declare const options: GateOptions;
declare const toolset: Toolset;
declare const tool: Tool;
declare const call: Omit<CallConfig, "toolsets">;

// The loop takes only toolsets that the gate made.
const gated: GatedToolset = gate.gate({ reference: "a", toolset, config: undefined, approvals: new Map(), tools: [tool] });
export const good: CallConfig = { ...call, toolsets: [gated] };

// @ts-expect-error a toolset that nobody gated
export const ungated: CallConfig = { ...call, toolsets: [toolset] };

// @ts-expect-error an object with all the members, and without the brand
export const handMade: GatedToolset = {
  reference: "a",
  definitions: [],
  has: () => true,
  isSequential: () => false,
  callsOf: () => [],
  call: async () => ({ ok: true, value: null }),
  close: async () => undefined,
};

// @ts-expect-error a gated toolset cannot be gated again
gate.gate({ reference: "a", toolset: gated, config: undefined, approvals: new Map(), tools: [] });

const { policy: _, ...withoutPolicy } = options;
// @ts-expect-error a gate needs a policy
createGate(withoutPolicy);

// @ts-expect-error a boolean is not a decision
export const boolean: Approver = async () => true;
// @ts-expect-error neither is a decision of another type
export const other: Approver = async () => ({ type: "yes" });
export const approver: Approver = async () => ({ type: "approve", remember: "run" });

// @ts-expect-error a policy needs a mode
export const modeless: ApprovalPolicy = { approver };
// @ts-expect-error and one of the three
export const renamed: ApprovalPolicy = { mode: "interactive" };

export type Unused = Granted;
