import { createGate } from "../approval/gate.ts";
import type { ApprovalPolicy } from "../approval/policy.ts";
import { Activity } from "../effects/activity.ts";
import { createAnswerer } from "../effects/answerer.ts";
import { nodeClock } from "../host/node-clock.ts";
import { noJournal } from "../journal/journal.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { jsonSchemaProblem } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";
import { isTool, isToolset, type Tool, type Toolset } from "../toolsets/toolset.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { Redactor } from "../util/secrets/redactor.ts";
import { createTestRuntime, type TestRuntime, type TestRuntimeOptions } from "./test-runtime.ts";

export interface ConformanceOptions {
  readonly toolset: Toolset;
  /** As it stands under the toolset's reference. Default: empty. */
  readonly config?: JsonObject;
  /** Calls that succeed where they are approved. Each is made on files of its own. */
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly files?: TestRuntimeOptions["files"];
  /** Absolute host path of the program's folder, for a toolset that connects. Default: `/`. */
  readonly folder?: string;
}

export interface ConformanceCase {
  readonly title: string;
  /** Rejects with an `Error` that says what is wrong. */
  readonly check: () => Promise<void>;
}

/**
 * The obligations of every toolset to the gate, as test cases for any test runner:
 * `for (const { title, check } of toolsetConformance({ toolset, calls })) test(title, check);`. A toolset that connects is connected for
 * each case, and closed after it.
 */
export function toolsetConformance(options: ConformanceOptions): readonly ConformanceCase[] {
  const { toolset, calls } = options;
  const cases: ConformanceCase[] = [
    { title: "is a toolset", check: async () => require(isToolset(toolset), "make it by `toolset()`") },
    { title: "takes its configuration", check: async () => void (await readConfig(options)) },
    { title: "lists the same well-named tools each time", check: () => checkTools(options) },
  ];
  return [
    ...cases,
    ...calls.flatMap((call): ConformanceCase[] => [
      { title: `judges \`${call.tool}\` by pure hooks`, check: () => checkHooks(options, call) },
      { title: `does not execute \`${call.tool}\` when it is denied`, check: () => checkDenial(options, call) },
      { title: `gives JSON for \`${call.tool}\``, check: () => checkResult(options, call) },
    ]),
  ];
}

type Call = ConformanceOptions["calls"][number];

function require(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}

async function readConfig({ toolset, config = {} }: ConformanceOptions): Promise<unknown> {
  if (!toolset.config) {
    require(Object.keys(config).length === 0, "it has a configuration, and no schema for it");
    return {};
  }
  const checked = await toolset.config.validate(config);
  if (checked.ok) return checked.value;
  throw new Error(`it refuses its configuration: ${renderIssues(checked.issues)}`);
}

interface OfferedTools extends AsyncDisposable {
  readonly config: unknown;
  readonly tools: readonly Tool[];
}

async function listTools(options: ConformanceOptions): Promise<OfferedTools> {
  const { toolset, folder = "/" } = options;
  const config = await readConfig(options);
  const known = toolset.tools(config, { worker: "test", readable: ["."], writable: ["."], networkEnabled: false });
  const access = { signal: new AbortController().signal, networkEnabled: false, folder, warn: () => undefined };
  const connection = await toolset.connect?.(config, access);
  for (const { input } of [...known, ...(connection?.tools ?? [])]) await input?.settle?.();
  const dispose = async () => connection?.close?.();
  return { config, tools: connection ? [...known, ...connection.tools] : known, [Symbol.asyncDispose]: dispose };
}

async function checkTools(options: ConformanceOptions): Promise<void> {
  await using first = await listTools(options);
  await using second = await listTools(options);
  const [tools, again] = [first.tools, second.tools];
  const describe = (some: readonly Tool[]) => canonicalJson(some.map(({ name, input }) => [name, input.jsonSchema]));
  require(Array.isArray(tools) && tools.every(isTool), "`tools` has to give a list of tools, at once");
  require(describe(tools) === describe(again), "`tools` gives other tools the second time");
  const names = tools.map(({ name }) => name);
  const wrong = names.find((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name));
  require(wrong === undefined, `\`${wrong}\` is no name for a tool`);
  require(new Set(names).size === names.length, `two tools share a name: ${names.join(", ")}`);
  for (const { name, input } of tools) {
    const problem = await jsonSchemaProblem(input.jsonSchema);
    require(problem === undefined, `the input schema of \`${name}\` cannot be used: ${problem}`);
  }
}

/** Calls a hook twice. Throws if it answers later, or differently. */
function twice<T>(name: string, hook: () => T): T {
  const [first, second] = [hook(), hook()];
  require(!(first instanceof Promise), `\`${name}\` must not be async`);
  require(canonicalJson(first ?? null) === canonicalJson(second ?? null), `\`${name}\` answers differently the second time`);
  return first;
}

async function checkHooks(options: ConformanceOptions, { tool, args }: Call): Promise<void> {
  const { toolset } = options;
  await using bench = await openBench(options);
  const { scopes, signal } = bench.runtime;
  const before = canonicalJson(bench.runtime.files());
  const call = { tool, args, config: bench.config };
  twice("targets", () => toolset.targets?.(call, { scopes }));
  const access = { scopes, signal, caller: bench.caller, networkEnabled: false };
  const prepare = async () => (await toolset.prepare?.(call, access)) ?? { canonicalArgs: args, targets: [], facts: {} };
  const preparation = await prepare();
  const compared = ({ canonicalArgs, facts, targets }: typeof preparation) => canonicalJson([canonicalArgs, facts, targets]);
  require(compared(preparation) === compared(await prepare()), "`prepare` finds something else the second time");
  const prepared = { ...call, args: preparation.canonicalArgs, preparation };
  const verdict = twice("needsApproval", () => toolset.needsApproval?.(prepared));
  require(verdict === undefined ||
    ["pre-approved", "needs-approval", "blocked"].includes(verdict.type), "`needsApproval` gives no verdict");
  const description = twice("describeCall", () => toolset.describeCall?.(prepared));
  require(description === undefined || /^[^\n]+$/.test(description), "`describeCall` has to give one line");
  twice("preview", () => toolset.preview?.(prepared));
  twice("ruleTexts", () => toolset.ruleTexts?.(prepared));
  require(canonicalJson(bench.runtime.files()) === before, "the hooks changed files");
}

async function checkDenial(options: ConformanceOptions, call: Call): Promise<void> {
  let executed = 0;
  await using bench = await openBench(options, () => executed++);
  const result = await bench.make({ mode: "reject_all" }, call);
  const isRefused = !result.ok && ["denied", "blocked"].includes(result.error.type);
  require(!isRefused || executed === 0, "the tool was executed although the call was refused");
  require(!result.ok || executed > 0, "the call came to a result without being executed");
}

async function checkResult(options: ConformanceOptions, call: Call): Promise<void> {
  await using bench = await openBench(options);
  const result = await bench.make({ mode: "approve_all" }, call);
  if (!result.ok) throw new Error(`the approved call failed: ${result.error.type}: ${result.error.error}`);
  require(result.value !== undefined, "the result is no JSON");
}

interface Bench extends AsyncDisposable {
  readonly runtime: TestRuntime;
  readonly config: unknown;
  readonly caller: { readonly name: string; readonly depth: number; readonly maxDepth: number };
  readonly make: (policy: ApprovalPolicy, call: Call) => Promise<ToolResult>;
}

/** A gate with nothing but this toolset behind it. */
async function openBench(options: ConformanceOptions, onExecute: () => void = () => undefined): Promise<Bench> {
  const { toolset, files = {} } = options;
  const runtime = await createTestRuntime({ files });
  const offered = await listTools(options);
  const { config } = offered;
  const caller = { name: "test", depth: 0, maxDepth: 1 };
  const tools = offered.tools.map((tool) => {
    const counted: Tool["execute"] = (...given) => {
      onExecute();
      return Reflect.apply(tool.execute, tool, given);
    };
    return { ...tool, execute: counted };
  });
  const make = async (policy: ApprovalPolicy, { tool, args }: Call) => {
    const gate = createGate({
      ...{ runId: "conformance", policy, redactor: new Redactor([]) },
      effects: createAnswerer({ live: { clock: nodeClock, journal: noJournal } }),
      activity: new Activity(
        () => undefined,
        async () => undefined,
      ),
      emit: () => undefined,
      stop: () => undefined,
      endsRun: () => false,
    });
    const gated = gate.gate({ reference: toolset.name, toolset, config, approvals: new Map(), tools });
    const result = await gated.call({ name: tool, args, caller, runtime });
    await gated.close();
    return result;
  };
  const dispose = async () => {
    await offered[Symbol.asyncDispose]();
    await runtime.close();
  };
  return { runtime, config, caller, make, [Symbol.asyncDispose]: dispose };
}
