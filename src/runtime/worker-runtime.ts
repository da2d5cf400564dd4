import type { Gate, GatedToolset } from "../approval/gate-types.ts";
import type { Scopes } from "../host/scopes.ts";
import type { Callable } from "../program/program.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import { type CallPath, childCallPath } from "../protocol/call.ts";
import type { JsonValue } from "../protocol/json.ts";
import {
  type AttachmentHandle,
  type CallOptions,
  type Tool,
  ToolFailure,
  toolFailure,
  type WorkerRuntime,
} from "../toolsets/toolset.ts";
import { toolsetOfTool } from "../toolsets/toolset-of-tool.ts";
import { nearestNames } from "../util/nearest-names.ts";
import type { CallConfig, RuntimeConfig } from "./config.ts";
import { joinExtraContext, readExtraContext } from "./extra-context.ts";
import type { LimitAccount } from "./limit-account.ts";
import { reportCall } from "./report-call.ts";
import { spendWithin } from "./spend-within.ts";
import { workerToolset } from "./worker-toolset.ts";

/** The worker whose tool it is, or a code entry, which has neither an id nor a policy. */
export interface CodeCaller {
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly attachmentPolicy?: AttachmentPolicy;
  readonly debug?: boolean;
}

/** The place that code stands in while it runs: a tool of a worker's call, or a code entry. */
export interface CodePlace {
  readonly run: RuntimeConfig;
  readonly callPath: CallPath;
  readonly depth: number;
  readonly caller: CodeCaller;
  readonly model: string | undefined;
  readonly scopes: Scopes;
  readonly attachments: readonly AttachmentHandle[];
  readonly account: LimitAccount;
  readonly signal: AbortSignal;
  /** Undefined: all of the program. */
  readonly reach: readonly string[] | undefined;
}

/** The facade that a tool called by a worker sees. */
export function createWorkerRuntime(call: CallConfig, callPath: CallPath, reach: readonly string[]): WorkerRuntime {
  const { run, depth, worker, model, scopes, attachments, account, signal } = call;
  return createCodeRuntime({
    run,
    callPath,
    depth,
    caller: worker,
    model: model.id,
    scopes,
    attachments,
    account,
    signal,
    reach,
  });
}

export function createCodeRuntime(place: CodePlace): WorkerRuntime {
  let calls = 0;
  return Object.freeze({
    scopes: place.scopes,
    attachments: place.attachments,
    worker: Object.freeze({ name: place.caller.name, description: place.caller.description }),
    model: place.model,
    signal: place.signal,
    callPath: place.callPath,
    depth: place.depth,
    progress: (message: string) => place.run.emit(place, { type: "progress", message: String(message) }),
    call: (name: string, input: JsonValue = {}, options: CallOptions = {}) => {
      const result = callByName(place, { name, input, options, ordinal: calls++ });
      // Nobody may be waiting for it: that must not end the process.
      result.catch(() => undefined);
      return result;
    },
  });
}

async function callByName(
  place: CodePlace,
  { name, input, options, ordinal }: { name: string; input: JsonValue; options: CallOptions; ordinal: number },
): Promise<JsonValue> {
  place.signal.throwIfAborted();
  const callable = findCallable(place, name);
  const context = readExtraContext(options);
  const key = { callPath: place.callPath, key: `call ${ordinal}` };
  spendWithin(place.run.effects, key, () => place.account.spendToolCall());
  const path = { callPath: childCallPath(place.callPath, ordinal, name), depth: place.depth };
  const unreached = place.run.effects.reach(path.callPath, place.signal);
  if (unreached) await unreached;
  const gated = gateCallable(place, place.run.gate, { name, callable, takesContext: context.length > 0 });
  const args = joinExtraContext(input, context);
  const reach = callable.kind === "tool" ? (callable.tool.calls ?? []) : [];
  const runtime = createCodeRuntime({ ...place, callPath: path.callPath, reach });
  const takeSlot = place.account.takeSlot.bind(place.account);
  const answer = () => gated.call({ name, args, callerId: place.caller.id, runtime, takeSlot });
  const debug = place.run.debug || (place.caller.debug ?? false);
  const result = await reportCall(place.run, { ...path, tool: name, args, debug }, answer);
  if (result.ok) return result.value;
  throw new ToolFailure(result.error);
}

function findCallable(place: CodePlace, name: string): Callable {
  const callable = place.run.program.callables.get(name);
  if (callable && (place.reach === undefined || place.reach.includes(name))) return callable;
  const names = place.reach ?? [...place.run.program.callables.keys()];
  const near = nearestNames(name, names);
  const hint = near.length > 0 ? `did you mean \`${near[0]}\`?` : `declare it: tool({ calls: ["${name}"], … })`;
  throw toolFailure(
    "unknown_tool",
    `\`${name}\` is not among the names that this code may call (${names.join(", ") || "none"})`,
    hint,
  );
}

interface NamedCallable {
  readonly name: string;
  readonly callable: Callable;
  /** Whether the call has texts of context beside its input. */
  readonly takesContext?: boolean;
}

/** What code calls by name, behind the gate. Throws a `ToolFailure` where a tool is to take context. */
export function gateCallable(
  place: CodePlace,
  gate: Gate,
  { name, callable, takesContext = false }: NamedCallable,
): GatedToolset {
  if (takesContext && callable.kind === "tool")
    throw toolFailure("invalid_arguments", `\`${name}\` is a tool, and only workers take \`extraContext\``, "pass it as input");
  const toolset =
    callable.kind === "worker" ? workerToolset(callable.worker, place, { takesContext }) : toolsetOfTool(name, callable.tool);
  const tools: readonly Tool[] = toolset.tools(undefined, {
    worker: place.caller.name,
    readable: [],
    writable: [],
    networkEnabled: false,
  });
  return gate.gate({ reference: name, toolset, config: undefined, approvals: new Map(), tools, fromCode: true });
}
