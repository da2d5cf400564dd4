import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { renderIssues } from "../schema/schema.ts";
import { type OwnVerdict, type Preparation, type PreparedToolsetCall, type Tool, toolFailure } from "../toolsets/toolset.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import type { GatedCall, ToolsetBinding } from "./gate-types.ts";

/** A call on its way through the gate. */
export interface PendingCall {
  readonly binding: ToolsetBinding;
  readonly tool: Tool;
  readonly request: GatedCall;
}

/** What would run: looked at, in its one form, with the digest that the question and the execution share. */
export interface PreparedCall {
  readonly preparation: Preparation;
  readonly digest: string;
  readonly view: PreparedToolsetCall;
}

/** Throws a `ToolFailure` that says which argument is wrong and why. */
export async function validateArgs(tool: Tool, args: JsonValue): Promise<JsonObject> {
  const { name } = tool;
  if (!isRecord(args))
    throw toolFailure("invalid_arguments", `\`${name}\` takes one object of arguments`, "call it again with a JSON object");
  const checked = await tool.input.validate(args);
  if (!checked.ok) {
    const error = `the arguments of \`${name}\` do not fit: ${renderIssues(checked.issues)}`;
    throw toolFailure("invalid_arguments", error, "correct the arguments and call it again");
  }
  return checked.value as JsonObject;
}

export async function prepareCall({ binding, tool, request }: PendingCall, args: JsonObject): Promise<PreparedCall> {
  const call = { tool: tool.name, args, config: binding.config };
  const { scopes, signal } = request.runtime;
  const preparation = (await binding.toolset.prepare?.(call, { scopes, signal })) ?? {
    canonicalArgs: args,
    targets: [],
    facts: {},
  };
  // What is judged and shown is what runs: nobody changes the arguments on the way.
  const canonicalArgs = freeze(preparation.canonicalArgs);
  const digest = sha256(canonicalJson([binding.reference, tool.name, canonicalArgs, preparation.facts]));
  return { preparation: { ...preparation, canonicalArgs }, digest, view: { ...call, args: canonicalArgs, preparation } };
}

export function ownVerdict({ binding, tool }: PendingCall, { view }: PreparedCall): OwnVerdict | undefined {
  if (binding.toolset.needsApproval) return binding.toolset.needsApproval(view);
  if (tool.approval === "pre-approved") return { type: "pre-approved", why: "its author pre-approves it" };
  return tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined;
}

/** What the worker's author says of the tool under `_approval_config`. */
export function authorsWord({ binding, tool }: PendingCall): boolean | undefined {
  return binding.approvals.get(tool.name) ?? binding.approvals.get("*");
}

export function describeCall({ binding, request }: PendingCall, { view }: PreparedCall): string {
  return binding.toolset.describeCall?.(view) ?? `${request.name} ${canonicalJson(view.args)}`;
}

/** The line of a worker's file that would pre-approve the call. */
export function allowLine({ binding, tool }: PendingCall): string {
  const reference = /^[\w-]+$/.test(binding.reference) ? binding.reference : JSON.stringify(binding.reference);
  return `toolsets: { ${reference}: { _approval_config: { ${tool.name}: { pre_approved: true } } } }`;
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
