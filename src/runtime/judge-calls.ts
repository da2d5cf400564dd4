import type { GatedToolset } from "../approval/gate-types.ts";
import type { Program, Worker } from "../program/program.ts";
import type { Verdict } from "../protocol/approval.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolError } from "../protocol/tool.ts";
import { toToolFailure } from "../toolsets/results/scope-failure.ts";
import { serverSideTools } from "../toolsets/server-side-tools.ts";
import { ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { quoteNames } from "../util/text/did-you-mean.ts";
import { nearestNames } from "../util/text/nearest-names.ts";
import { Budget } from "./bounds/budget.ts";
import type { RuntimeConfig } from "./config.ts";
import { usesFiles } from "./connect/open-call-scopes.ts";
import { createConfig } from "./create-config.ts";
import { type RehearsalSetup, toRehearsal } from "./rehearse.ts";
import { unknownTool } from "./results/unknown-tool.ts";
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

/** A caller of tools, ready to be asked what would become of its calls. */
interface Caller {
  readonly place: CodeContext;
  /** The gated toolset that has a tool of this name. */
  readonly toolsetOf: (tool: string) => GatedToolset | undefined;
  readonly tools: readonly string[];
  /** Toolsets whose tools are known only when they connect. */
  readonly unconnected: readonly string[];
}

/** Judges calls as a run with this setup would. */
export function createCallJudge(program: Program, setup: RehearsalSetup): CallJudge {
  const run = createConfig(program, toRehearsal(setup), () => undefined);
  const callers = new Map<Worker | undefined, Promise<Caller>>();
  const callerOf = (name: string | undefined): Promise<Caller> => {
    const worker = findWorker(program, name);
    const known = callers.get(worker) ?? openCaller(run, worker);
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

/** The caller is the entry where no worker is named. */
async function openCaller(run: RuntimeConfig, worker: Worker | undefined): Promise<Caller> {
  const { program, gate } = run;
  const { entry, callables } = program;
  const code = entry.kind === "code" ? entry.code : { name: "", scopes: [] };
  const scopes = await run.openScopes((worker ?? code).scopes, { atFirstUse: !usesFiles(worker ?? code) });
  const { signal } = new AbortController();
  const open = { run, depth: 0, scopes, signal, attachments: [] };
  if (!worker) {
    const { name } = code;
    return {
      place: {
        ...open,
        callPath: name,
        worker: { name, description: "" },
        model: undefined,
        budget: run.budget,
        reach: undefined,
      },
      toolsetOf: (tool) => {
        const callable = callables.get(tool);
        return callable && gate.gate(callable);
      },
      tools: [...callables.keys()],
      unconnected: [],
    };
  }
  const budget = new Budget(worker.limits, { owner: worker.name, parent: run.budget });
  const toolsets = [...worker.toolsets, serverSideTools(worker)].map((binding) => gate.gate(binding));
  return {
    place: { ...open, callPath: worker.name, worker, model: worker.model, budget, reach: [] },
    toolsetOf: (tool) => toolsets.find((toolset) => toolset.has(tool)),
    tools: toolsets.flatMap(({ definitions }) => definitions.map(({ name }) => name)),
    unconnected: worker.toolsets.flatMap(({ reference, toolset }) => (toolset.connect ? [reference] : [])),
  };
}

async function judge(
  { worker, tool, args }: JudgedCall,
  callerOf: (name: string | undefined) => Promise<Caller>,
): Promise<Judgement> {
  try {
    const { place, toolsetOf, tools, unconnected } = await callerOf(worker);
    const toolset = toolsetOf(tool);
    if (!toolset) throw unconnected.length > 0 ? unconnectedTool(tool, unconnected) : unknownTool(tool, tools);
    return await toolset.judge(toGatedCall(place, { name: tool, args }));
  } catch (thrown) {
    const failure = toToolFailure(thrown);
    if (!(failure instanceof ToolFailure)) throw thrown;
    return { type: "refused", why: failure.toolError.error, error: failure.toolError };
  }
}

/** A verdict is about a tool that may be there: nothing is connected to find out. */
function unconnectedTool(tool: string, references: readonly string[]): ToolFailure {
  const error = `whether \`${tool}\` is a tool is known only in a run: ${quoteNames(references)} must connect first`;
  return toolFailure("unknown_tool", error, "`explain` says what the rules make of its tools");
}
