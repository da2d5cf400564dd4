import type { Scopes } from "../../host/scopes/scopes.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { renderIssues } from "../../schema/schema.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import { attachmentField } from "../attachments.ts";
import { configSchema } from "../config-schema.ts";
import { among, atMost, type NarrowKey, narrowKeys } from "../narrow-lists.ts";
import {
  blocked,
  type Narrowed,
  type Target,
  type Tool,
  type ToolFailure,
  type Toolset,
  toolFailure,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "../toolset.ts";
import { promptField } from "./prompt-field.ts";
import {
  asksForWorker,
  type CalledWorker,
  readTargets,
  type WorkerSource,
  workersOfRun,
  workerToolset,
} from "./worker-toolset.ts";

export interface DelegationConfig {
  /** Globs of workers' names. Default: the locked worker alone, or none. */
  readonly allow_workers?: readonly string[];
  /** Called whatever the model names. */
  readonly lock_worker?: string;
  readonly allowed_suffixes?: readonly string[];
  readonly max_attachments?: number;
  /** Most bytes of all attachments of one call. */
  readonly max_bytes?: number;
}

const names = { type: "array", items: { type: "string" } } as const;

const config = configSchema<DelegationConfig>(
  {
    allow_workers: { ...names, description: "Globs of the names of workers that may be called. Without any, none may." },
    lock_worker: { type: "string", description: "The one worker that is called, whatever the model names." },
    allowed_suffixes: { ...names, description: "The suffixes that attachments may have, such as `.pdf`." },
    max_attachments: { type: "integer", minimum: 0, description: "The most attachments of one call." },
    max_bytes: { type: "integer", minimum: 0, description: "The most bytes of the attachments of one call." },
  },
  ({ allow_workers: allowed, lock_worker: locked }) =>
    typeof locked === "string" && Array.isArray(allowed) && !allowed.some((glob) => matchesFlatGlob(String(glob), locked))
      ? [{ path: ["lock_worker"], message: `names \`${locked}\`, which \`allow_workers\` leaves out` }]
      : [],
);

/** The globs of the workers that a configuration lets call. `given` need not be valid. */
export function allowedWorkers({ allow_workers: allowed, lock_worker: locked }: JsonObject): readonly string[] {
  if (typeof locked === "string") return [locked];
  return Array.isArray(allowed) ? allowed.filter((glob) => typeof glob === "string") : [];
}

/** Workers that the creator may call, by names and globs; a locked worker stays. */
function narrowDelegation(own: JsonObject, wish: JsonObject): Narrowed {
  // A locked worker is called whatever the list says.
  const globs = [...new Set([...allowedWorkers(own), ...allowedWorkers({ allow_workers: own["allow_workers"] ?? [] })])];
  const allows = (glob: string) =>
    globs.includes(glob) || (!/[*?]/.test(glob) && globs.some((one) => matchesFlatGlob(one, glob)));
  const amongGlobs: NarrowKey = (_own, given, refuse) => {
    const names = Array.isArray(given) ? given.map(String) : [String(given)];
    if (!names.every(allows)) refuse(`to be had: ${quoteNames(globs) || "none"}`);
    return given;
  };
  const lock: NarrowKey = (locked, given, refuse) => {
    if (locked !== undefined && locked !== given) refuse(`to be had: \`${String(locked)}\``);
    return locked === undefined ? amongGlobs(locked, given, refuse) : given;
  };
  const most = { max_attachments: atMost(), max_bytes: atMost() };
  const keys = { allow_workers: amongGlobs, lock_worker: lock, allowed_suffixes: among("all"), ...most };
  return narrowKeys(own, wish, keys);
}

/** Calls of workers by name. Compiling a program fills in the workers that a configuration allows. */
export const delegation: Toolset<DelegationConfig> = {
  [toolsetMark]: true,
  name: "delegation",
  config,
  narrow: narrowDelegation,
  warnings: ({ allow_workers: allowed = [], lock_worker: locked }) =>
    allowed.length === 0 && locked === undefined
      ? [{ path: [], message: "`allow_workers` names no worker, so every call is blocked" }]
      : [],
  tools: () => [],
};

/** A call in the form that it has under the worker's own name. */
export interface ForwardedCall {
  /** The worker's name. */
  readonly name: string;
  readonly toolset: Toolset;
  readonly tools: readonly Tool[];
  readonly args: JsonObject;
  readonly extraContext?: readonly string[];
  /** Turns the worker's output into the result. */
  readonly toResult: (output: JsonValue) => JsonValue;
}

/** Turns a call into one of a worker's own tool. */
export interface Forward {
  /** Throws a `ToolFailure` for a call that cannot be made. Synchronous: calls keep the order in which they reach the gate. */
  (args: JsonValue, runtime: WorkerRuntime): ForwardedCall;
  /** The target that the call waits for before it is forwarded, if an earlier call of the same turn changes it: a worker that is being created. */
  readonly targets: (args: JsonValue, scopes: Scopes) => readonly Target[];
}

interface DelegationSource extends Pick<WorkerSource, "abilitiesBeyond"> {
  readonly config: DelegationConfig;
  /** By name. */
  readonly workers: ReadonlyMap<string, () => CalledWorker>;
  /** Workers that it allows can be created in the run. */
  readonly isOpen: boolean;
}

/** `delegation`, linked: `worker_call` becomes a call of the worker's own tool before the gate looks at it. */
export function delegationToolset({ config: given, workers, isOpen, abilitiesBeyond }: DelegationSource) {
  const policies = policiesOf(given);
  const sources = [...workers].map(([name, worker]) => ({ name, worker, abilitiesBeyond, policies }));
  const delegates = new Map(sources.map((source) => [source.name, { ...source, ...workerToolset(source) }]));
  // A created worker is not among the names.
  const tools = [callTool([...delegates.values()], inputSchema(isOpen ? [] : [...delegates.keys()], given.lock_worker))];
  const toolset = {
    ...delegation,
    tools: () => tools,
    rules: () => [...delegates.keys()].map((name) => `call ${name}`),
    outlook: () => [delegates.size === 0 && !isOpen ? blocked("`allow_workers` names no worker") : asksForWorker],
  } as Toolset;
  const allows = (name: string) => allowedWorkers(given as JsonObject).some((glob) => matchesFlatGlob(glob, name));
  const createdDelegate = (name: string, runtime: WorkerRuntime) => {
    const source = isOpen && allows(name) ? workersOfRun(runtime)?.created(name) : undefined;
    return source && { ...source, ...workerToolset({ ...source, policies }) };
  };
  const forwardCall = (args: JsonValue, runtime: WorkerRuntime): ForwardedCall => {
    const call = readCall(args, given.lock_worker);
    const delegate = createdDelegate(call.worker, runtime) ?? delegates.get(call.worker);
    if (!delegate) throw notAllowed(call.worker, [...delegates.keys()]);
    const { name, worker, toolset: target, tools: offered } = delegate;
    const { input, output } = worker();
    if (call.expectJson && !output)
      throw invalid(`\`${name}\` has no \`output\` schema, so there is no JSON to expect`, "leave `expect_json` out");
    const { extraContext } = call;
    return {
      ...{ name, toolset: target, tools: offered },
      args: toInput(name, input.jsonSchema, call),
      ...(extraContext ? { extraContext } : {}),
      toResult: (value) => (call.expectJson || typeof value === "string" ? value : JSON.stringify(value)),
    };
  };
  const targets: Forward["targets"] = (args, scopes) => {
    const worker = given.lock_worker ?? (isRecord(args) ? args["worker"] : undefined);
    return typeof worker === "string" && isOpen && allows(worker)
      ? [{ read: workerTarget(worker) }, ...filesIn(args, scopes)]
      : [];
  };
  return { toolset, config: given, tools, forward: Object.assign(forwardCall, { targets }) };
}

function callTool(
  delegates: readonly { readonly name: string; readonly worker: () => CalledWorker }[],
  schema: JsonObject,
): Tool {
  return Object.freeze({
    [toolMark]: true as const,
    name: "worker_call",
    get description() {
      const known = delegates.map(({ name, worker }) => `${name}: ${clipText(worker().description, 200)}`);
      return ["Call a worker and get its output. The workers:", ...(known.length > 0 ? known : ["none"])].join("\n");
    },
    input: fromJsonSchema(schema),
    calls: [],
    settlesOnAbort: true,
    execute: () => {
      throw new Error("invariant: `worker_call` is forwarded to the worker's own tool");
    },
  });
}

/** The target of calls that create or call a worker. */
export function workerTarget(name: string): string {
  return `worker:${name}`;
}

/** Files that the call may take along: the schema of a worker that is not there yet does not say which texts are paths. */
function filesIn(args: JsonValue, scopes: Scopes): readonly Target[] {
  const { attachments, input } = isRecord(args) ? args : {};
  const texts = [attachments, ...(isRecord(input) ? Object.values(input) : [])].flat().filter((one) => typeof one === "string");
  return readTargets(texts, scopes);
}

function policiesOf({ allowed_suffixes, max_attachments, max_bytes }: DelegationConfig): readonly AttachmentPolicy[] {
  if (!allowed_suffixes && max_attachments === undefined && max_bytes === undefined) return [];
  const maxAttachments = max_attachments ?? Number.MAX_SAFE_INTEGER;
  const maxTotalBytes = max_bytes ?? Number.MAX_SAFE_INTEGER;
  const allowedSuffixes = (allowed_suffixes ?? []).map((suffix) => suffix.toLowerCase());
  return [{ maxAttachments, maxTotalBytes, allowedSuffixes, deniedSuffixes: [], mediaTypes: [] }];
}

function inputSchema(known: readonly string[], locked: string | undefined): JsonSchema {
  const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
  const worker = { type: "string", description: "The worker's name.", ...(known.length > 0 ? { enum: [...known] } : {}) };
  const properties = {
    ...(locked === undefined ? { worker } : {}),
    input: {
      anyOf: [{ type: "string" }, { type: "object" }],
      description: "What the worker is asked to do: a text, or its input by fields.",
    },
    attachments: texts("Paths of files that you can read; their content is sent along."),
    extra_context: texts("Texts beside the input."),
    expect_json: {
      type: "boolean",
      description: "Return the output as JSON, which a worker with an output schema alone has. Default: as text.",
    },
  };
  return { type: "object", properties, required: locked === undefined ? ["worker"] : [], additionalProperties: false };
}

interface ReadCall {
  readonly worker: string;
  readonly input: string | JsonObject;
  readonly attachments: readonly string[];
  readonly extraContext?: readonly string[];
  readonly expectJson: boolean;
}

const otherFields = configSchema<{
  readonly worker?: string;
  readonly attachments?: readonly string[];
  readonly extra_context?: readonly string[];
  readonly expect_json?: boolean;
}>({ worker: { type: "string" }, attachments: names, extra_context: names, expect_json: { type: "boolean" } });

/** A locked worker is called whatever the caller names. */
function readCall(args: JsonValue, locked: string | undefined): ReadCall {
  if (!isRecord(args)) throw invalid("`worker_call` takes one object of arguments");
  const { input = {}, ...others } = args as JsonObject;
  const checked = otherFields.validate(others);
  if (checked instanceof Promise) throw new Error("invariant: the arguments of `worker_call` are checked at once");
  if (!checked.ok) throw invalid(`the arguments of \`worker_call\` do not fit: ${renderIssues(checked.issues)}`);
  if (typeof input !== "string" && !isRecord(input)) throw invalid("`input` of `worker_call` is a text or an object of fields");
  const { worker = locked, attachments = [], extra_context: extraContext = [], expect_json: expectJson = false } = checked.value;
  if (worker === undefined) throw invalid("`worker_call` needs the name of a `worker`");
  const context = extraContext.length > 0 ? { extraContext } : {};
  return { worker: locked ?? worker, input: input as string | JsonObject, attachments, expectJson, ...context };
}

/** The input of the worker's own tool. */
function toInput(name: string, schema: JsonSchema, { input, attachments }: ReadCall): JsonObject {
  const fields = typeof input === "string" ? { [textField(name, schema)]: input } : input;
  if (attachments.length === 0) return fields;
  const field = attachmentField(schema);
  if (!field) throw invalid(`\`${name}\` takes no attachments`, "leave `attachments` out");
  if (Object.hasOwn(fields, field.name)) throw invalid(`attachments are named twice: in \`input.${field.name}\` too`);
  const [first = "", ...others] = attachments;
  if (!field.many && others.length > 0) throw invalid(`\`${name}\` takes one attachment, and ${attachments.length} were given`);
  return { ...fields, [field.name]: field.many ? attachments : first };
}

function textField(name: string, schema: JsonSchema): string {
  const { field, fields } = promptField(schema);
  if (field !== undefined) return field;
  throw invalid(`the input of \`${name}\` is no single text`, `give its fields: ${quoteNames(fields) || "none"}`);
}

function notAllowed(worker: string, known: readonly string[]): ToolFailure {
  const shown = clipText(worker, 80);
  const hint = didYouMean(shown, known) ?? (known.length > 0 ? `allowed are ${quoteNames(known)}` : "do without");
  return toolFailure("unknown_tool", `\`${shown}\` is not among the workers that may be called`, hint);
}

function invalid(error: string, hint = "correct the arguments and call it again"): ToolFailure {
  return toolFailure("invalid_arguments", error, hint);
}
