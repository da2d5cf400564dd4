import { joinContext } from "../approval/extra-context.ts";
import type { GatedCall } from "../approval/gate-types.ts";
import type { Scopes } from "../host/scopes.ts";
import type { ToolsetReference } from "../program/program.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import { type CallPath, childCallPath } from "../protocol/call.ts";
import type { JsonValue } from "../protocol/json.ts";
import { type AttachmentHandle, type CallOptions, ToolFailure, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import { allowWorkerCalls } from "../toolsets/worker-toolset.ts";
import { nearestNames } from "../util/nearest-names.ts";
import type { CallConfig, RuntimeConfig, WorkerInput } from "./config.ts";
import type { LimitAccount } from "./limit-account.ts";
import { reportCall } from "./report-call.ts";
import { RequestFailed } from "./run-error.ts";
import { spendWithin } from "./spend-within.ts";

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

/** The place of a tool that a worker's model calls. */
export function placeOfTool(call: CallConfig, callPath: CallPath, reach: readonly string[]): CodePlace {
  const { run, depth, worker, model, scopes, attachments, account, signal } = call;
  return { run, callPath, depth, caller: worker, model: model.id, scopes, attachments, account, signal, reach };
}

/** A call as the gate takes it; `place` is what its tool sees of the run. */
export function toGatedCall(place: CodePlace, call: Pick<GatedCall, "name" | "args" | "extraContext">): GatedCall {
  const { depth, caller, account } = place;
  const { id, name, attachmentPolicy } = caller;
  return {
    ...call,
    caller: {
      ...{ name, depth, maxDepth: account.maxDepth() },
      ...(id === undefined ? {} : { id }),
      ...(attachmentPolicy ? { attachmentPolicy } : {}),
    },
    runtime: createCodeRuntime(place),
    takeSlot: account.takeSlot.bind(account),
  };
}

export function createCodeRuntime(place: CodePlace): WorkerRuntime {
  let calls = 0;
  const runtime: WorkerRuntime = Object.freeze({
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
  allowWorkerCalls(runtime, (id, input) => callAsTool(place, id, input));
  return runtime;
}

/** Calls a worker as the tool of this place. What it comes to is a value, or a `ToolFailure` for its caller. */
async function callAsTool(
  { run, depth, account, callPath, signal }: CodePlace,
  id: string,
  input: WorkerInput,
): Promise<JsonValue> {
  const worker = run.program.workers.get(id);
  if (!worker) throw new Error(`invariant: the worker ${id} is not part of the program`);
  const call = { input, callPath, depth: depth + 1, account, signal };
  const end = await run.callWorker(worker, call).catch((thrown: unknown) => {
    if (!(thrown instanceof RequestFailed)) throw thrown;
    throw toolFailure("provider", `\`${worker.name}\` failed: ${thrown.message}`, "go on without it, or call it again");
  });
  if (end.stopReason === "done") return end.output;
  const output = typeof end.output === "string" ? end.output : JSON.stringify(end.output);
  const how = end.stopReason === "limit" ? `ended at ${end.reason ?? "a limit"}` : `was cut off: ${end.reason ?? ""}`;
  const hint = "use what there is, or call it with a smaller task";
  throw toolFailure(end.stopReason, `\`${worker.name}\` ${how}; what it had so far: ${output}`, hint);
}

async function callByName(
  place: CodePlace,
  { name, input, options, ordinal }: { name: string; input: JsonValue; options: CallOptions; ordinal: number },
): Promise<JsonValue> {
  place.signal.throwIfAborted();
  const callable = findCallable(place, name);
  const extraContext = readExtraContext(options);
  if (extraContext && !callable.worker)
    throw toolFailure("invalid_arguments", `\`${name}\` is a tool, and only workers take \`extraContext\``, "pass it as input");
  const key = { callPath: place.callPath, key: `call ${ordinal}` };
  spendWithin(place.run.effects, key, () => place.account.spendToolCall());
  const path = { callPath: childCallPath(place.callPath, ordinal, name), depth: place.depth };
  const unreached = place.run.effects.reach(path.callPath, place.signal);
  if (unreached) await unreached;
  const reach = callable.worker ? [] : callable.tools.flatMap(({ calls = [] }) => calls);
  const call = { name, args: input, ...(extraContext ? { extraContext } : {}) };
  const gated = toGatedCall({ ...place, callPath: path.callPath, reach }, call);
  const answer = () => place.run.gate.gate(callable).call(gated);
  const debug = place.run.debug || (place.caller.debug ?? false);
  const result = await reportCall(place.run, { ...path, tool: name, args: joinContext(input, extraContext), debug }, answer);
  if (result.ok) return result.value;
  throw new ToolFailure(result.error);
}

function findCallable(place: CodePlace, name: string): ToolsetReference {
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

/** The texts that code passes beside an input; undefined for none. Throws a `ToolFailure` for options that there are not. */
function readExtraContext({ extraContext, ...others }: CallOptions): readonly string[] | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw toolFailure("invalid_arguments", `\`call\` has no option \`${unknown}\`; there is \`extraContext\``);
  if (!Array.isArray(extraContext)) return extraContext;
  return extraContext.length > 0 ? [...extraContext] : undefined;
}
