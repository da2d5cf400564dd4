import type { GatedToolset } from "../approval/gate-types.ts";
import type { ApprovalPolicy } from "../approval/policy.ts";
import { createRehearsedEffects } from "../effects/rehearsed.ts";
import type { Host } from "../host/host.ts";
import type { Scopes } from "../host/scopes.ts";
import type { Program, Worker } from "../program/program.ts";
import type { Verdict } from "../protocol/approval.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolError } from "../protocol/tool.ts";
import { toToolFailure } from "../toolsets/scope-failure.ts";
import { serverSideTools } from "../toolsets/server-side-tools.ts";
import { ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { nearestNames } from "../util/nearest-names.ts";
import { Redactor } from "../util/redactor.ts";
import type { RunSetup, RuntimeConfig } from "./config.ts";
import { createConfig } from "./create-config.ts";
import { LimitAccount } from "./limit-account.ts";
import { unknownTool } from "./unknown-tool.ts";
import { type CodeContext, toGatedCall } from "./worker-runtime.ts";

export interface JudgedCall {
  /** A worker's name or id. Default: the entry. */
  readonly worker?: string;
  /** As a model calls it. */
  readonly tool: string;
  readonly args: JsonValue;
}

/** `refused`: the call cannot be made at all, whatever the rules say; the model would be told the error. */
export type Judgement = Verdict | { readonly type: "refused"; readonly why: string; readonly error: ToolError };

/** Says of calls what the gate would, in the order in which they are given. Makes none of them, and no folder either. */
export interface CallJudge {
  judge(call: JudgedCall): Promise<Judgement>;
  close(): Promise<void>;
}

export interface JudgeOptions {
  readonly host: Host;
  readonly policy: ApprovalPolicy;
  readonly version: string;
  readonly signal?: AbortSignal | undefined;
}

/** Whoever makes calls, ready to be asked what would become of them. */
interface Caller {
  readonly place: CodeContext;
  /** The gated toolset that has a tool of this name. */
  readonly toolsetOf: (tool: string) => GatedToolset | undefined;
  readonly tools: readonly string[];
}

export function createCallJudge(program: Program, options: JudgeOptions): CallJudge {
  const run = createConfig(program, toSetup(options), () => undefined);
  const callers = new Map<Worker | undefined, Promise<Caller>>();
  const signal = options.signal ?? new AbortController().signal;
  const open = async (worker: Worker | undefined) => {
    const scopes = await openScopes(run, worker);
    return worker ? describeWorker(run, worker, { scopes, signal }) : describeCode(run, { scopes, signal });
  };
  const callerOf = (name: string | undefined): Promise<Caller> => {
    const worker = findWorker(program, name);
    const known = callers.get(worker) ?? open(worker);
    callers.set(worker, known);
    return known;
  };
  return {
    judge: (call) => judge(call, callerOf),
    close: async () => {
      for (const caller of await Promise.allSettled(callers.values())) {
        if (caller.status === "fulfilled") await caller.value.place.scopes.close();
      }
    },
  };
}

/** A rehearsal: no model is asked, nothing is recorded, nobody listens. */
function toSetup({ host, policy, version }: JudgeOptions): RunSetup {
  return {
    ...{ runId: "verdict", host, policy, version, limits: {}, debug: false, streaming: false },
    effects: createRehearsedEffects(),
    redactor: new Redactor([]),
    resolveModel: () => Promise.reject(new Error("invariant: a verdict asks no model")),
    priceOf: async () => undefined,
    onEvent: undefined,
    onMessage: undefined,
  };
}

function findWorker({ entry, workers }: Program, name: string | undefined): Worker | undefined {
  if (name === undefined) return entry.kind === "worker" ? entry.worker : undefined;
  if (entry.kind === "code" && entry.code.name === name) return undefined;
  const found = [...workers.values()].filter((worker) => worker.name === name || worker.id === name);
  const [worker] = found;
  if (worker && found.length === 1) return worker;
  const near = nearestNames(
    name,
    [...workers.values()].flatMap((one) => [one.name, one.id]),
  );
  const hint = worker
    ? `say which: ${found.map(({ id }) => id).join(", ")}`
    : near.length > 0
      ? `did you mean ${near[0]}?`
      : undefined;
  throw toolFailure("unknown_tool", worker ? `several workers are named \`${name}\`` : `there is no worker \`${name}\``, hint);
}

function openScopes(run: RuntimeConfig, worker: Worker | undefined): Promise<Scopes> {
  const { entry } = run.program;
  const declared = worker?.scopes ?? (entry.kind === "code" ? entry.code.scopes : []);
  return run.openScopes(declared, { missingRoots: "pretend" });
}

interface Open {
  readonly scopes: Scopes;
  readonly signal: AbortSignal;
}

function describeWorker(run: RuntimeConfig, worker: Worker, { scopes, signal }: Open): Caller {
  const account = new LimitAccount(worker.limits, worker.name, run.account);
  const toolsets = [...worker.toolsets, serverSideTools(worker)].map((binding) => run.gate.gate(binding));
  const place = { run, callPath: worker.name, depth: 0, worker, model: worker.model, account, reach: [] };
  return {
    place: { ...place, scopes, signal, attachments: [] },
    toolsetOf: (tool) => toolsets.find((toolset) => toolset.has(tool)),
    tools: toolsets.flatMap(({ definitions }) => definitions.map(({ name }) => name)),
  };
}

function describeCode(run: RuntimeConfig, { scopes, signal }: Open): Caller {
  const { program, gate, account } = run;
  const name = program.entry.kind === "code" ? program.entry.code.name : "";
  const worker = { name, description: "" };
  const place: CodeContext = {
    ...{ run, callPath: name, depth: 0, worker, model: undefined, account, reach: undefined },
    ...{ scopes, signal, attachments: [] },
  };
  return {
    place,
    toolsetOf: (tool) => {
      const callable = program.callables.get(tool);
      return callable && gate.gate(callable);
    },
    tools: [...program.callables.keys()],
  };
}

async function judge(
  { worker, tool, args }: JudgedCall,
  callerOf: (name: string | undefined) => Promise<Caller>,
): Promise<Judgement> {
  try {
    const { place, toolsetOf, tools } = await callerOf(worker);
    const toolset = toolsetOf(tool);
    if (!toolset) throw unknownTool(tool, tools);
    return await toolset.judge(toGatedCall(place, { name: tool, args }));
  } catch (thrown) {
    const failure = toToolFailure(thrown);
    if (!(failure instanceof ToolFailure)) throw thrown;
    return { type: "refused", why: failure.toolError.error, error: failure.toolError };
  }
}
