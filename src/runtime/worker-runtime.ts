import { joinContext } from "../approval/extra-context.ts";
import type { GatedCall, GatedToolset } from "../approval/gate-types.ts";
import { codeCallKey, workerKey } from "../effects/keys.ts";
import { RequestChanged } from "../effects/policies/request-changed.ts";
import type { Worker } from "../program/program.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import { type CallAddress, childCallPath } from "../protocol/call.ts";
import type { FactKey } from "../protocol/fact.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { createMap } from "../toolsets/map-calls.ts";
import { type RunAccess, sealRuntime } from "../toolsets/timed-runtime.ts";
import { type CallOptions, ToolFailure, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import type { DraftedWorker, WorkerSource } from "../toolsets/workers/worker-toolset.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { copyJson } from "../util/json/plain-json.ts";
import { sha256 } from "../util/sha256.ts";
import { nearestNames } from "../util/text/nearest-names.ts";
import type { CallConfig } from "./config.ts";
import { createSteps } from "./results/code-steps.ts";
import { CallReport } from "./results/report-call.ts";
import { LimitReached } from "./run-error.ts";

/** The worker whose tool it is, or a code entry, which has neither an id nor a policy. */
export interface CodeOwner {
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly attachmentPolicy?: AttachmentPolicy;
  readonly debug?: boolean;
  readonly creators?: Worker["creators"];
  readonly toolsets?: Worker["toolsets"];
}

/** A call that code made. */
export interface EndedCall {
  readonly name: string;
  readonly input: JsonValue;
  readonly result: ToolResult;
}

/** The part of a run that executing code can use: a tool in a worker's call, or a code entry. */
export interface CodeContext extends CallAddress, Pick<CallConfig, "run" | "scopes" | "attachments" | "budget" | "signal"> {
  readonly worker: CodeOwner;
  readonly model: { readonly id: string } | undefined;
  /** The names that it may call. Undefined: all of the program. */
  readonly reach: readonly string[] | undefined;
  /** The toolsets that it reaches, in the place of the program's names. */
  readonly toolsets?: readonly GatedToolset[];
  /** Called with each call that it made. */
  readonly onEnd?: (ended: EndedCall) => void;
  /** Default: it is added to the run alone. */
  readonly addCreated?: (created: WorkerSource) => void;
}

/** A call as the gate takes it; its tool runs in `context`. */
export function toGatedCall(context: CodeContext, call: Pick<GatedCall, "name" | "args" | "extraContext">): GatedCall {
  const { run, callPath, depth, worker, budget } = context;
  const { id, name, attachmentPolicy, creators } = worker;
  return {
    ...call,
    caller: {
      ...{ name, depth, maxDepth: budget.maxDepth() },
      ...(id === undefined ? undefined : { id }),
      ...(attachmentPolicy ? { attachmentPolicy } : undefined),
      ...(creators ? { creators } : undefined),
    },
    runtime: createRuntime(context),
    takeSlot: budget.takeSlot.bind(budget),
    onRepeated: () => budget.countToolCalls(run.effects.state.toolCallsOf(callPath)),
  };
}

/** All that code sees of the run. */
export function createRuntime(context: CodeContext, begun?: Set<Promise<unknown>>): WorkerRuntime {
  const { run, worker, model, scopes, attachments, signal, callPath, depth } = context;
  // Most tools use nothing of their runtime: the rest is made when it is used.
  let made: MadeCalls | undefined;
  let steps: ReturnType<typeof createSteps> | undefined;
  const call = ((name: string, input: JsonValue = {}, options: CallOptions = {}) => {
    made ??= { count: 0, equal: new Map() };
    const called = callByName(context, made, { name, input, options });
    begun?.add(called);
    const forget = () => begun?.delete(called);
    called.then(forget, forget);
    return called;
  }) as WorkerRuntime["call"];
  const stepping = () => (steps ??= createSteps(context));
  const runtime: WorkerRuntime = {
    scopes,
    attachments,
    signal,
    callPath,
    depth,
    worker: Object.freeze({ name: worker.name, description: worker.description }),
    model: model?.id,
    step: ((name, fn) => stepping().step(name, fn)) as WorkerRuntime["step"],
    now: () => stepping().now(),
    progress: (message: string) => run.emit(context, { type: "progress", message: String(message) }),
    traceContext: () => run.traceOf?.({ runId: run.runId, callPath }),
    call,
    map: (...given: Parameters<WorkerRuntime["map"]>) => quiet(createMap(call)(...given)),
  };
  return sealRuntime(runtime, () => accessIn(context));
}

function accessIn(context: CodeContext): RunAccess {
  const { run, depth, budget, callPath } = context;
  return {
    left: () => budget.left(),
    beginWork: () => run.activity.begin(callPath),
    workers: {
      call: run.callWorker.bind(undefined, { ...context, depth: depth + 1 }),
      created: (name) => run.created.named(name),
      isTool: (name) => run.connections.hasFound(name),
      add: (created) => {
        recordCreated(context, created);
        (context.addCreated ?? run.created.add.bind(run.created))(created.source);
      },
    },
    withSignal: (signal) => {
      const begun = new Set<Promise<unknown>>();
      return { runtime: createRuntime({ ...context, signal }, begun), settled: () => Promise.allSettled(begun) };
    },
  };
}

/** Records a created worker. Throws a `RequestChanged` if an earlier attempt of the run created another one by this call. */
function recordCreated(
  { run, callPath }: CodeContext,
  { name, file, digest, text, record: capability, source }: DraftedWorker,
): void {
  const { id } = source.worker();
  const known = run.effects.recall("worker", { callPath, key: workerKey });
  if (known && known.digest !== digest) {
    const passing = { sideEffect: true, announced: false, detail: {} };
    throw new RequestChanged(undefined, { callPath, key: workerKey, kind: "tool", digest, ...passing });
  }
  run.effects.record({ type: "worker", callPath, key: workerKey, name, id, file, digest, text, capability });
}

/** Keeps a rejection from ending the process where code does not await its call. */
function quiet<T>(result: Promise<T>): Promise<T> {
  result.catch(() => undefined);
  return result;
}

interface WantedCall {
  readonly name: string;
  readonly input: JsonValue;
  readonly options: CallOptions;
}

/** The calls that code has made so far. */
interface MadeCalls {
  count: number;
  /** How many calls were equal, by the key of the first. */
  readonly equal: Map<string, number>;
}

/** Identifies a call in every replay: by what is called with what, and its number among equal calls of the same code. */
function keyOf({ run, callPath }: CodeContext, { equal }: MadeCalls, { name, input, options }: WantedCall): FactKey {
  const digest = sha256(
    canonicalJson([run.redactor.toDigestForm(asJson([input, options.extraContext ?? null])), options.key ?? null]),
  );
  const first = codeCallKey(name, digest, 1);
  const number = (equal.get(first) ?? 0) + 1;
  equal.set(first, number);
  return { callPath, key: codeCallKey(name, digest, number) };
}

/** Undefined for what is not JSON: the gate refuses it. */
function asJson(value: unknown): unknown {
  try {
    return copyJson(value);
  } catch {
    return undefined;
  }
}

async function callByName(context: CodeContext, made: MadeCalls, wanted: WantedCall): Promise<JsonValue> {
  const { name, input, options } = wanted;
  const ordinal = made.count++;
  const key = keyOf(context, made, wanted);
  const { run, worker, budget, depth, signal } = context;
  signal.throwIfAborted();
  const callable = findCallable(context, name);
  const extraContext = readExtraContext(options);
  if (extraContext && !callable.isWorker)
    throw toolFailure("invalid_arguments", `\`${name}\` is a tool, and only workers take \`extraContext\``, "pass it as input");
  const reached = run.effects.decideOnce("limit", key, { decide: () => budget.spendToolCall() });
  if (reached) throw new LimitReached(reached);
  const missed = run.effects.requireLive({ ...key, unless: "code-call", what: `this call of ${name}`, signal });
  // Only a replay waits here: the gate copies the input before code can change it, and keeps the order of calls.
  if (missed) await missed;
  const { path: callPath } = run.effects.decideOnce("code-call", key, {
    decide: () => {
      const free = Math.max(ordinal, run.effects.state.freeOrdinal(context.callPath));
      return { path: childCallPath(context.callPath, free, name) };
    },
  });
  const call = { name, args: input, ...(extraContext ? { extraContext } : {}) };
  const args = joinContext(input, extraContext);
  const report = new CallReport(run, { callPath, depth, tool: name, args, debug: run.debug || (worker.debug ?? false) });
  // A callee reaches the names that its own code declares.
  const { toolsets = [], onEnd, ...others } = context;
  const gated = toGatedCall({ ...others, ...reachOf(callable, toolsets), callPath }, call);
  const leave = run.activity.begin(callPath);
  try {
    const result = report.end(await callable.toolset.call(gated).catch((thrown) => report.fail(thrown)));
    onEnd?.({ name, input, result });
    if (result.ok) return result.value;
    throw new ToolFailure(result.error);
  } finally {
    leave();
  }
}

/** The target of a call by name. */
interface FoundCallable {
  readonly toolset: GatedToolset;
  readonly isWorker: boolean;
  /** The names that its own code may call. */
  readonly reach: readonly string[];
}

/** Returns the tools that code may call: those that it declares, or all but its own toolset if it reaches what its caller does. */
export function reachOf(
  { toolset, reach }: Pick<FoundCallable, "toolset" | "reach">,
  toolsets: readonly GatedToolset[],
): Pick<CodeContext, "reach" | "toolsets"> {
  return toolset.reachesToolsets ? { reach, toolsets: toolsets.filter((one) => one !== toolset) } : { reach };
}

function findCallable({ run, reach, worker, toolsets }: CodeContext, name: string): FoundCallable {
  if (toolsets) {
    const toolset = toolsets.find((one) => one.has(name));
    const isWorker =
      worker.toolsets?.some(({ reference, worker: callee }) => reference === toolset?.reference && callee) ?? false;
    if (toolset) return { toolset, isWorker, reach: toolset.callsOf(name) };
    const names = toolsets.flatMap(({ definitions }) => definitions.map((definition) => definition.name));
    throw unknownName(name, names, `the toolsets of \`${worker.name}\` have it not`);
  }
  const callable = run.program.callables.get(name);
  if (callable && (reach === undefined || reach.includes(name))) {
    const calls = callable.worker ? [] : callable.tools.flatMap((tool) => tool.calls ?? []);
    return { toolset: run.gate.gate(callable), isWorker: callable.worker !== undefined, reach: calls };
  }
  throw unknownName(name, reach ?? [...run.program.callables.keys()], `declare it: tool({ calls: ["${name}"], … })`);
}

function unknownName(name: string, names: readonly string[], otherwise: string): ToolFailure {
  const near = nearestNames(name, names);
  const hint = near.length > 0 ? `did you mean \`${near[0]}\`?` : otherwise;
  const reachable = names.join(", ") || "none";
  return toolFailure("unknown_tool", `\`${name}\` is not in the \`calls\` of this code (${reachable})`, hint);
}

/** The texts that code passes beside an input; undefined for none. Throws a `ToolFailure` for options that there are not. */
function readExtraContext({ extraContext, key, ...others }: CallOptions): readonly string[] | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw toolFailure("invalid_arguments", `\`call\` has no option \`${unknown}\`; there are \`extraContext\` and \`key\``);
  if (key !== undefined && typeof key !== "string") throw toolFailure("invalid_arguments", "`key` has to be a text");
  if (!Array.isArray(extraContext)) return extraContext;
  return extraContext.length > 0 ? [...extraContext] : undefined;
}
