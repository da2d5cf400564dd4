import { Activity } from "../effects/activity.ts";
import { createAnswerer } from "../effects/answerer.ts";
import { nodeClock } from "../host/node-clock.ts";
import { noScopes } from "../host/scopes/no-scopes.ts";
import type { Scopes } from "../host/scopes/scopes.ts";
import { noJournal } from "../journal/journal.ts";
import type { DeniedCall } from "../protocol/approval.ts";
import { childCallPath } from "../protocol/call.ts";
import type { RunEventBody } from "../protocol/event.ts";
import type { JsonValue } from "../protocol/json.ts";
import { createMap } from "../toolsets/map-calls.ts";
import { sealRuntime } from "../toolsets/timed-runtime.ts";
import { toolName as nameForModels } from "../toolsets/tool-name.ts";
import {
  gatedMark,
  isGated,
  type PreparedToolsetCall,
  type Tool,
  type Toolset,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "../toolsets/toolset.ts";
import { lastOf } from "../util/async/last-of.ts";
import {
  anyOption,
  checkOptions,
  functionOption,
  listOption,
  type OptionTable,
  objectOption,
  textOption,
  textsOption,
} from "../util/check-options.ts";
import { Redactor, type Secret } from "../util/secrets/redactor.ts";
import { checkJson, foreignSchema, pathTexts } from "./foreign-tool.ts";
import { createGate } from "./gate.ts";
import { type Gate, PolicyStop } from "./gate-types.ts";
import type { ApprovalPolicy } from "./policy.ts";

/** A tool in the AI SDK's form, as far as the gate needs to know it. */
export interface GateableTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of every input and output are taken
  readonly execute?: ((args: any, options: any) => any) | undefined;
}

export interface ToolGateOptions {
  readonly approval: ApprovalPolicy;
  /** Name of the caller, in questions and for rules. Default `agent`. */
  readonly name?: string;
  /** Scopes for code behind the gate. Default: none. The caller opens and closes them. */
  readonly scopes?: Scopes;
  /** Names of arguments that are paths in these scopes: rules see them in their one form, `scope/rest`. Default: none. */
  readonly paths?: readonly string[];
  /** Hidden from questions and events; events hide what has the shape of a credential too. */
  readonly secrets?: readonly Secret[];
  /** Questions and their answers, as they come. Must not throw. */
  readonly onEvent?: (event: Extract<RunEventBody, { readonly type: "approval-request" | "approval-decision" }>) => void;
}

/** The gate for tools that another loop calls. */
export interface ToolGate {
  /**
   * The same tools, each behind the gate: a call runs only where the policy allows it, with exactly the arguments that were
   * judged and shown. One that may not run answers `{ error, type, hint }`, for the model. Tools without `execute` stay as
   * they are. Arguments and results are JSON: with others a call rejects. Of what a tool streams, the last value is its result.
   * Throws a `TypeError` if a name is longer than the 64 characters that providers take, and for a tool that is gated already.
   */
  gate<T extends Readonly<Record<string, GateableTool>>>(tools: T): T;
  /** Aborts when a person says stop, or at the first denial where the policy stops for one; later calls then reject. */
  readonly signal: AbortSignal;
  /** Calls that needed an approval and did not get it, so far. */
  readonly denied: readonly DeniedCall[];
}

const gateOptions: OptionTable<ToolGateOptions> = {
  approval: anyOption,
  name: textOption,
  scopes: objectOption,
  paths: textsOption,
  secrets: listOption,
  onEvent: functionOption,
};

/** Throws a `TypeError` if the policy is none, or an option is unknown or of another form. */
export function createToolGate(options: ToolGateOptions): ToolGate {
  checkOptions(options, { path: "createToolGate", table: gateOptions });
  const { approval: policy, secrets = [], name = "agent" } = options;
  if (policy.onUnanswered === "hold") throw new TypeError("`onUnanswered: hold` needs a run, which can be resumed");
  const redactor = new Redactor(secrets);
  const controller = new AbortController();
  const effects = createAnswerer({ live: { clock: nodeClock, journal: noJournal } });
  const gate = createGate({
    runId: name,
    policy,
    effects,
    activity: new Activity(
      () => undefined,
      async () => undefined,
    ),
    emit: (_call, event) => {
      if (event.type === "approval-request" || event.type === "approval-decision") options.onEvent?.(redactor.json(event));
    },
    redactor,
    stop: (reason) => controller.abort(reason),
    endsRun: (thrown) => thrown instanceof PolicyStop,
  });
  let calls = 0;
  const gatedTools = new Map<string, GateableTool["execute"][]>();
  /** Another tool of the same name is another one to what was approved for the run. */
  const referenceOf = (toolName: string, { execute }: GateableTool) => {
    const known = gatedTools.get(toolName) ?? [];
    gatedTools.set(toolName, known.includes(execute) ? known : [...known, execute]);
    const index = known.includes(execute) ? known.indexOf(execute) : known.length;
    return index === 0 ? toolName : `${toolName}#${index + 1}`;
  };
  const place = {
    gate,
    name,
    scopes: options.scopes ?? noScopes,
    stopped: controller.signal,
    paths: options.paths ?? [],
    nextCall: () => calls++,
    referenceOf,
  };
  const gateOne = ([toolName, tool]: [string, GateableTool]) => [toolName, gateTool(place, toolName, tool)];
  return {
    gate: <T extends Readonly<Record<string, GateableTool>>>(tools: T) =>
      Object.fromEntries(Object.entries(tools).map(gateOne)) as T,
    signal: controller.signal,
    get denied() {
      return effects.state.denied();
    },
  };
}

interface GatePlace {
  readonly gate: Gate;
  readonly name: string;
  readonly scopes: Scopes;
  readonly paths: readonly string[];
  readonly stopped: AbortSignal;
  readonly nextCall: () => number;
  readonly referenceOf: (toolName: string, tool: GateableTool) => string;
}

function gateTool(place: GatePlace, toolName: string, foreign: GateableTool): GateableTool {
  const { gate, name, scopes, stopped, nextCall } = place;
  if (foreign.execute === undefined) return foreign;
  if (isGated(foreign.execute)) throw new TypeError(`\`${toolName}\` is gated already: give the gate the tool itself`);
  if (nameForModels(undefined, toolName) !== toolName) throw new TypeError(`\`${toolName}\` is too long for a tool's name`);
  const optionsOf = new WeakMap<WorkerRuntime, unknown>();
  const tool: Tool = {
    [toolMark]: true,
    name: toolName,
    description: typeof foreign.description === "string" ? foreign.description : "",
    input: foreignSchema(foreign.inputSchema),
    execute: (args, runtime) => lastOf(foreign.execute?.(args, optionsOf.get(runtime)), runtime.signal),
  };
  const toolset: Toolset = Object.freeze({
    [toolsetMark]: true as const,
    name: toolName,
    tools: () => [tool],
    ruleTexts: (call: PreparedToolsetCall) => pathTexts(call, place.paths, scopes),
  });
  const gated = gate.gate({
    reference: place.referenceOf(toolName, foreign),
    toolset,
    config: undefined,
    approvals: new Map(),
    tools: [tool],
    fromCode: true,
  });
  const execute = async (args: JsonValue, given: { readonly abortSignal?: AbortSignal } = {}) => {
    stopped.throwIfAborted();
    checkJson(toolName, args);
    const callPath = childCallPath(name, nextCall(), toolName);
    const signal = given.abortSignal ? AbortSignal.any([stopped, given.abortSignal]) : stopped;
    const runtime = createRuntime({ name, scopes, signal, callPath });
    optionsOf.set(runtime, given);
    const result = await gated.call({ name: toolName, args, caller: { name, depth: 0, maxDepth: 0 }, runtime });
    return result.ok ? result.value : result.error;
  };
  return { ...foreign, execute: Object.assign(execute, { [gatedMark]: true }) };
}

function createRuntime({
  name,
  scopes,
  signal,
  callPath,
}: Pick<WorkerRuntime, "scopes" | "signal" | "callPath"> & { readonly name: string }): WorkerRuntime {
  const call = () => Promise.reject(new Error("there is no program here whose tools could be called"));
  return sealRuntime({
    ...{ call, map: createMap(call) },
    step: async (_name, fn) => fn(),
    now: async () => nodeClock.now(),
    scopes,
    attachments: [],
    worker: Object.freeze({ name, description: "" }),
    model: undefined,
    signal,
    callPath,
    depth: 0,
    progress: () => undefined,
    traceContext: () => undefined,
  });
}
