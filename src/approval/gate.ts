import type { ApprovalDecision, DecisionSource, DeniedCall, Verdict } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { RunEventBody } from "../protocol/event.ts";
import type { JournalFact, StepSeam } from "../protocol/journal-entry.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import type { ToolDefinition, ToolError } from "../protocol/tool.ts";
import { renderIssues } from "../schema/schema.ts";
import { toToolFailure } from "../toolsets/scope-failure.ts";
import {
  type OwnVerdict,
  type Preparation,
  type PreparedToolsetCall,
  type Tool,
  ToolFailure,
  type Toolset,
  toolFailure,
  type WorkerRuntime,
} from "../toolsets/toolset.ts";
import { abortable } from "../util/abortable.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { errorMessage } from "../util/error-message.ts";
import { KeyedQueue } from "../util/keyed-queue.ts";
import { sha256 } from "../util/sha256.ts";
import { decide } from "./decide.ts";
import { ApprovalMemory } from "./memory.ts";
import { type ApprovalPolicy, checkPolicy } from "./policy.ts";
import { QuestionQueue } from "./question-queue.ts";
import { judge } from "./verdict.ts";

declare const gatedBrand: unique symbol;
declare const grantBrand: unique symbol;

/** The proof that exactly this call may execute. Only this file makes one, and only this file takes one. */
type Granted<T> = T & { readonly [grantBrand]: true };
const grants = new WeakSet<object>();

/** A toolset behind the gate: the only kind that the agent loop takes. Made by `Gate.gate`, and by nothing else. */
export interface GatedToolset {
  readonly [gatedBrand]: true;
  readonly reference: string;
  /** What the model is told of its tools, under the names that it calls them by. */
  readonly definitions: readonly ToolDefinition[];
  has(name: string): boolean;
  isSequential(name: string): boolean;
  /** What the tool's code may call. */
  callsOf(name: string): readonly string[];
  /** The whole way of one call. Never rejects for what a tool, a model or an approver did; rejects on abort and on a policy stop. */
  call(request: GatedCall): Promise<ToolResult>;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** One toolset as a worker refers to it. */
export interface ToolsetBinding {
  readonly reference: string;
  readonly toolset: Toolset;
  readonly config: unknown;
  /** Put before each tool's name, with an underscore. */
  readonly prefix?: string;
  /** `_approval_config`: unprefixed tool name, or `*`, to pre-approved. */
  readonly approvals: ReadonlyMap<string, boolean>;
  /** The tools of this configuration, under their unprefixed names. */
  readonly tools: readonly Tool[];
}

export interface GatedCall {
  readonly name: string;
  readonly args: JsonValue;
  readonly callPath: CallPath;
  readonly depth: number;
  /** The worker or code that asks. */
  readonly caller: string;
  /** The runtime that the tool will see. */
  readonly runtime: WorkerRuntime;
  /** Bounds how many leaf tools run at once; not used for tools that wait for calls of their own. */
  readonly bounded: <T>(fn: () => Promise<T>, signal: AbortSignal) => Promise<T>;
}

/** What the gate needs of a run. */
export interface GateOptions {
  readonly runId: string;
  readonly policy: ApprovalPolicy;
  readonly step: StepSeam;
  readonly record: (fact: JournalFact) => void;
  readonly emit: (call: { readonly callPath: CallPath; readonly depth: number }, body: RunEventBody) => void;
  /** Takes secrets out of what a person is shown. */
  readonly redact: <T>(value: T) => T;
  readonly onDenied: (denied: DeniedCall) => void;
  /** True for what a nested call throws that must end the run, and not be told to a model. */
  readonly endsRun: (thrown: unknown) => boolean;
}

export interface Gate {
  gate(binding: ToolsetBinding): GatedToolset;
  readonly memory: ApprovalMemory;
}

/** Ends the run: a person said stop, or something was denied in a run that stops for it. */
export class PolicyStop extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PolicyStop";
  }
}

/** The one gate of a run: validate → prepare → verdict → decision → prepare again, compare → grant → execute. */
export function createGate(options: GateOptions): Gate {
  const policy = checkPolicy(options.policy);
  const run: GateRun = {
    ...options,
    policy,
    memory: new ApprovalMemory(),
    questions: policy.mode === "prompt" && policy.approver ? new QuestionQueue(policy.approver) : undefined,
    targets: new KeyedQueue(),
  };
  return { memory: run.memory, gate: (binding) => gateToolset(run, binding) };
}

interface GateRun extends GateOptions {
  readonly memory: ApprovalMemory;
  readonly questions: QuestionQueue | undefined;
  readonly targets: KeyedQueue;
}

/** A call on its way through the gate. */
interface PendingCall {
  readonly run: GateRun;
  readonly binding: ToolsetBinding;
  readonly tool: Tool;
  readonly request: GatedCall;
}

interface Prepared {
  readonly preparation: Preparation;
  readonly digest: string;
  readonly view: PreparedToolsetCall;
}

function gateToolset(run: GateRun, binding: ToolsetBinding): GatedToolset {
  const byName = new Map(binding.tools.map((tool) => [prefixed(binding, tool.name), tool]));
  const gated = {
    reference: binding.reference,
    definitions: [...byName].map(([name, tool]) => ({ name, description: tool.description, inputSchema: tool.input.jsonSchema })),
    has: (name: string) => byName.has(name),
    isSequential: (name: string) => byName.get(name)?.sequential ?? false,
    callsOf: (name: string) => byName.get(name)?.calls ?? [],
    open: async () => binding.toolset.open?.(binding.config),
    close: async () => binding.toolset.close?.(binding.config),
    call: async (request: GatedCall): Promise<ToolResult> => {
      const tool = byName.get(request.name);
      if (!tool) return refusal({ type: "unknown_tool", error: `there is no tool \`${request.name}\`` });
      return passGate({ run, binding, tool, request });
    },
  };
  return Object.freeze(gated) as unknown as GatedToolset;
}

function prefixed(binding: ToolsetBinding, name: string): string {
  return binding.prefix ? `${binding.prefix}_${name}` : name;
}

async function passGate(call: PendingCall): Promise<ToolResult> {
  try {
    const args = await validate(call.tool, call.request.args);
    const first = await prepare(call, args);
    const waits = call.run.targets.isBusy(first.preparation.targets);
    return await call.run.targets.run(first.preparation.targets, async () =>
      settle(call, waits ? await prepare(call, args) : first),
    );
  } catch (thrown) {
    return settleFailure(call.run, call.request.runtime.signal, thrown);
  }
}

async function validate(tool: Tool, args: JsonValue): Promise<JsonObject> {
  if (!isRecord(args))
    throw toolFailure("invalid_arguments", `\`${tool.name}\` takes one object of arguments`, "call it again with a JSON object");
  const checked = await tool.input.validate(args);
  if (!checked.ok) {
    throw toolFailure(
      "invalid_arguments",
      `the arguments of \`${tool.name}\` do not fit: ${renderIssues(checked.issues)}`,
      "correct the arguments and call it again",
    );
  }
  return checked.value as JsonObject;
}

async function prepare({ binding, tool, request }: PendingCall, args: JsonObject): Promise<Prepared> {
  const call = { tool: tool.name, args, config: binding.config };
  const { scopes, signal } = request.runtime;
  const preparation = (await binding.toolset.prepare?.(call, { scopes, signal })) ?? {
    canonicalArgs: args,
    targets: [],
    facts: {},
  };
  const digest = sha256(canonicalJson([binding.reference, tool.name, preparation.canonicalArgs, preparation.facts]));
  return { preparation, digest, view: { ...call, args: preparation.canonicalArgs, preparation } };
}

/** Verdict, decision, second look, execution. Runs alone on the call's targets. */
async function settle(call: PendingCall, prepared: Prepared): Promise<ToolResult> {
  const { run, binding, tool, request } = call;
  const verdict = judge(
    ownVerdict(binding.toolset, tool, prepared.view),
    binding.approvals.get(tool.name) ?? binding.approvals.get("*"),
  );
  run.record({
    type: "verdict",
    callPath: request.callPath,
    tool: request.name,
    args: prepared.preparation.canonicalArgs,
    digest: prepared.digest,
    verdict,
  });
  if (verdict.type === "blocked")
    return refusal({
      type: "blocked",
      error: `\`${request.name}\` is blocked: ${verdict.why}`,
      hint: "no approval can allow it; do without it",
    });
  if (verdict.type === "allowed") return execute(call, grant(call, prepared));
  const { decision, source } = await askFor(call, prepared, verdict);
  if (decision.type !== "approve") return deny(call, prepared, { decision, source });
  if (decision.args) {
    const edited = await prepare(call, await validate(tool, decision.args));
    return settle(call, edited);
  }
  const again = await prepare(call, prepared.view.args);
  if (again.digest !== prepared.digest) {
    throw toolFailure(
      "changed",
      `what \`${request.name}\` was approved for has changed since the question`,
      "look again and repeat the call if it is still wanted",
    );
  }
  return execute(call, grant(call, again));
}

function ownVerdict(toolset: Toolset, tool: Tool, view: PreparedToolsetCall): OwnVerdict | undefined {
  if (toolset.needsApproval) return toolset.needsApproval(view);
  if (tool.approval === "pre-approved") return { type: "pre-approved", why: "its author pre-approves it" };
  return tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined;
}

async function askFor(
  call: PendingCall,
  prepared: Prepared,
  verdict: Verdict,
): Promise<{ decision: ApprovalDecision; source: DecisionSource }> {
  const { run, binding, request } = call;
  const { callPath, name: tool, runtime } = request;
  const preview = binding.toolset.preview?.(prepared.view);
  const question = {
    runId: run.runId,
    callPath,
    worker: request.caller,
    tool,
    args: prepared.preparation.canonicalArgs,
    description: describe(call, prepared),
    why: verdict.why,
    ...(preview ? { preview } : {}),
    canRemember: true,
  };
  const outcome = await decide(question, {
    policy: run.policy,
    memory: run.memory,
    questions: run.questions,
    redact: run.redact,
    signal: runtime.signal,
    onAsk: (asked) => run.emit(request, { type: "approval-request", request: asked }),
  });
  run.emit(request, { type: "approval-decision", tool, ...outcome });
  run.record({ type: "decision", callPath, tool, ...outcome });
  return outcome;
}

function describe({ binding, request }: PendingCall, { view }: Prepared): string {
  return binding.toolset.describeCall?.(view) ?? `${request.name} ${canonicalJson(view.args)}`;
}

function deny(
  call: PendingCall,
  prepared: Prepared,
  { decision, source }: { decision: ApprovalDecision; source: DecisionSource },
): ToolResult {
  const { run, binding, tool, request } = call;
  const note = decision.note;
  run.onDenied({
    callPath: request.callPath,
    worker: request.caller,
    tool: request.name,
    description: run.redact(describe(call, prepared)),
    source,
    ...(note === undefined ? {} : { note }),
    allow: `toolsets: { ${quoteKey(binding.reference)}: { _approval_config: { ${tool.name}: { pre_approved: true } } } }`,
  });
  if (decision.type === "stop" || run.policy.onDenied === "stop") {
    throw new PolicyStop(`\`${request.name}\` was denied${note ? `: ${note}` : ""}, and the run stops for it`);
  }
  return refusal({
    type: "denied",
    error: note ? `\`${request.name}\` was denied: ${note}` : `\`${request.name}\` was denied`,
    hint: "do not repeat the same call; go on without it, or say what could not be done",
  });
}

function quoteKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function grant(call: PendingCall, prepared: Prepared): Granted<Prepared> {
  grants.add(prepared);
  call.run.record({ type: "grant", callPath: call.request.callPath, tool: call.request.name, digest: prepared.digest });
  return prepared as Granted<Prepared>;
}

/** The only place in the product where a tool's code is entered. */
async function execute({ run, tool, request }: PendingCall, granted: Granted<Prepared>): Promise<ToolResult> {
  if (!grants.delete(granted)) throw new Error("invariant: a call without a grant reached execution");
  const { preparation, digest, view } = granted;
  const delegates = tool.calls !== undefined;
  const step = {
    callPath: request.callPath,
    kind: delegates ? ("worker" as const) : ("tool" as const),
    detail: { tool: request.name, digest },
    sideEffect: preparation.sideEffect ?? tool.sideEffect ?? true,
    describe: (result: ToolResult) => ({ result: result as unknown as JsonObject }),
  };
  const perform = () =>
    run.step(step, () => enter(run, tool, { args: view.args, runtime: request.runtime, payload: preparation.payload }));
  return delegates ? perform() : request.bounded(perform, request.runtime.signal);
}

interface Execution {
  readonly args: JsonObject;
  readonly runtime: WorkerRuntime;
  readonly payload: unknown;
}

async function enter(run: GateRun, tool: Tool, { args, runtime, payload }: Execution): Promise<ToolResult> {
  try {
    const value = await settled(tool, (async () => tool.execute(args, runtime, payload))(), runtime.signal);
    return { ok: true, value: toJsonValue(value) };
  } catch (thrown) {
    return settleFailure(run, runtime.signal, thrown);
  }
}

/** A tool that does not end by itself on an abort is abandoned. */
function settled(tool: Tool, work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return tool.settlesOnAbort ? work : abortable(work, signal);
}

/** What ends the run goes on up; everything else is told to the model. */
function settleFailure(run: GateRun, signal: AbortSignal, thrown: unknown): ToolResult {
  signal.throwIfAborted();
  if (thrown instanceof PolicyStop || run.endsRun(thrown)) throw thrown;
  return toRefusal(thrown);
}

function toJsonValue(value: unknown): JsonValue {
  if (value === undefined) return null;
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw toolFailure("tool_failed", `the tool returned a ${typeof value}, which is not a JSON value`);
  return JSON.parse(text) as JsonValue;
}

function toRefusal(caught: unknown): ToolResult {
  const thrown = toToolFailure(caught);
  if (thrown instanceof ToolFailure) return refusal(thrown.toolError);
  return refusal({
    type: "tool_failed",
    error: errorMessage(thrown),
    hint: "the tool itself failed; try other arguments or another way",
  });
}

function refusal(error: ToolError): ToolResult {
  return { ok: false, error };
}
