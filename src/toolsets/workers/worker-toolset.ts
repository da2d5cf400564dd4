import type { Scopes } from "../../host/scopes/scopes.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { FactOf } from "../../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { FilePart } from "../../protocol/message.ts";
import type { Schema } from "../../schema/schema.ts";
import { clipText } from "../../util/text/clip-text.ts";
import {
  attachmentPaths,
  describeFiles,
  findAskingFile,
  readAttachments,
  toPreview,
  toToolSchema,
  withAttachmentPaths,
} from "../attachments.ts";
import { accessOf } from "../timed-runtime.ts";
import {
  needsApproval,
  type Preparation,
  type PrepareAccess,
  type PreparedToolsetCall,
  type Target,
  type Tool,
  type ToolCaller,
  type Toolset,
  type ToolsetCall,
  toolFailure,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "../toolset.ts";

/** A worker, as far as a call of it needs to know. */
export interface CalledWorker {
  /** Its path inside the program, without the suffix: unique, and the same on every machine. */
  readonly id: string;
  readonly description: string;
  readonly input: Schema;
  /** Undefined: the output is text. */
  readonly output: Schema | undefined;
  readonly model: { readonly id: string } | undefined;
  readonly attachmentPolicy: AttachmentPolicy;
}

export interface WorkerSource {
  readonly name: string;
  /** Called after all workers of the program are linked: workers may call each other. */
  readonly worker: () => CalledWorker;
  /** Describes what a worker can do that its caller cannot do by itself, by their ids. */
  readonly abilitiesBeyond: (caller: string | undefined, callee: string) => readonly string[];
  /** Present for a worker that was created in the run: tells it from others of its name. */
  readonly digest?: string;
  /** An attachment policy in addition to those of caller and worker. Default: none. */
  readonly policies?: readonly AttachmentPolicy[];
}

/** Calls a worker by its id, as the child of the call that a runtime belongs to. Rejects like a tool. */
export type CallWorker = (
  id: string,
  call: { readonly input: JsonObject; readonly files: readonly FilePart[]; readonly fragments: readonly string[] },
) => Promise<WorkerEnd>;

/** How a call of a worker ended. `limit` and `cut`: with what it had so far; `reason` says which limit, or what to raise. */
export interface WorkerEnd {
  readonly output: JsonValue;
  readonly stopReason: "done" | "limit" | "cut";
  readonly reason?: string;
}

/** The workers of a run, for the toolsets that call and create them. */
export interface RunWorkers {
  readonly call: CallWorker;
  /** The latest worker of this name that was created in the run. */
  readonly created: (name: string) => WorkerSource | undefined;
  /** Returns true if a toolset that was connected in the run has a tool of this name. */
  readonly isTool: (name: string) => boolean;
  /** Makes a created worker callable, and records it: from now on by `worker_call`, and from the caller's next turn by its name. */
  readonly add: (created: DraftedWorker) => void;
}

/** Undefined outside of a run. Such a call passes no gate of its own. */
export function workersOfRun(runtime: WorkerRuntime): RunWorkers | undefined {
  return accessOf(runtime)?.workers;
}

/** A worker as a model or the library's caller asks for it: the keys of a worker file, as data. */
export interface WorkerSpec extends JsonObject {
  readonly name: string;
  readonly instructions: string;
}

/** A worker that compiles and has no more than its creator. Nothing of it is on disk yet. */
export interface DraftedWorker extends Pick<FactOf<"worker">, "name" | "file" | "text" | "digest"> {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** Its capability, for the next start. */
  readonly record: JsonObject;
  readonly source: WorkerSource;
}

export interface DraftOptions {
  /** It may replace a created worker of its name. */
  readonly force: boolean;
  /** In place of the manifest's `generated_workers`: keys of a worker file for what the spec does not name. */
  readonly defaults?: JsonObject;
}

/** Makes workers on behalf of one worker of a program. */
export interface WorkerMaker {
  /** Touches nothing. Throws a `ToolFailure` that says all that is wrong, and what may be had. */
  draft(spec: WorkerSpec, options: DraftOptions): Promise<DraftedWorker>;
  /** Returns whether a worker file says that nothing may overwrite it; one that cannot be read does. */
  isLocked(text: string): boolean;
}

export interface DynamicWorkers extends Toolset {
  /** The toolset of one worker, with what its calls need of the compiler. */
  link(maker: WorkerMaker): LinkedDynamicWorkers;
}

export interface LinkedDynamicWorkers {
  readonly toolset: Toolset;
  readonly config: undefined;
  readonly tools: readonly Tool[];
  readonly settled: (args: JsonObject, runtime: WorkerRuntime) => Promise<void>;
}

export function isDynamicWorkers(toolset: Toolset | undefined): toolset is DynamicWorkers {
  return toolset !== undefined && "link" in toolset && toolset.name === "dynamic_workers";
}

interface WorkerPayload {
  readonly caller: ToolCaller;
  readonly files: readonly FilePart[];
  readonly fragments: readonly string[];
}

/** A worker as a toolset of one tool: its name, its input schema, its description. Attachments come from the caller's scopes. */
export function workerToolset({ name, worker, abilitiesBeyond, digest, policies = [] }: WorkerSource) {
  let offered: Schema | undefined;
  const tool: Tool = Object.freeze({
    [toolMark]: true as const,
    name,
    get description() {
      return worker().description;
    },
    get input() {
      const { input } = worker();
      offered ??= { ...input, jsonSchema: toToolSchema(input.jsonSchema) };
      return offered;
    },
    calls: [],
    settlesOnAbort: true,
    execute: async (input: JsonObject, runtime: WorkerRuntime, payload: unknown) => {
      const callWorker = workersOfRun(runtime)?.call;
      if (!callWorker) throw new Error("invariant: a worker is called by a run alone");
      const { files, fragments } = (payload as WorkerPayload | undefined) ?? { files: [], fragments: [] };
      return toValue(name, await callWorker(worker().id, { input, files, fragments }));
    },
  });
  const tools = [tool];
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name,
    tools: () => tools,
    targets: ({ args }: ToolsetCall, { scopes }: Pick<PrepareAccess, "scopes">) =>
      readTargets(attachmentPaths(worker().input.jsonSchema, args), scopes),
    prepare: (call: ToolsetCall, access: PrepareAccess) => prepareCall(name, worker(), { call, access, policies, digest }),
    describeCall: ({ args }: PreparedToolsetCall) => `Call the worker ${name} with ${clipText(JSON.stringify(args), 200)}`,
    preview: ({ preparation }: PreparedToolsetCall) => {
      const { caller, files } = preparation.payload as WorkerPayload;
      const { id, model } = worker();
      return {
        type: "worker" as const,
        worker: name,
        ...(caller.id === undefined ? {} : { caller: caller.name }),
        can: abilitiesBeyond(caller.id, id),
        destination: `${name} (${model?.id ?? "no model"})`,
        files: files.map(toPreview),
      };
    },
    outlook: () => [asksForWorker],
    needsApproval: ({ preparation }: PreparedToolsetCall) =>
      preparation.facts["readApproval"] === true ? asksToRead : asksForWorker,
  });
  return { toolset, config: undefined, tools };
}

export const asksForWorker = needsApproval("a call to a worker asks unless it is pre-approved");
const asksToRead = needsApproval(
  "an attachment has a protected name, or lies in a scope whose files are read on approval",
  "rule",
);

/** The result of a call for its caller. Throws a `ToolFailure` if it did not come to its end. */
function toValue(name: string, { output, stopReason, reason }: WorkerEnd): JsonValue {
  if (stopReason === "done") return output;
  const partial = typeof output === "string" ? output : JSON.stringify(output);
  const how = stopReason === "limit" ? `ended at ${reason ?? "a limit"}` : `was cut off: ${reason ?? ""}`;
  const hint = "use what there is, or call it with a smaller task";
  throw toolFailure(stopReason, `\`${name}\` ${how}; what it had so far: ${partial}`, hint);
}

/** The targets of files that a call reads. A path that leads nowhere is left out: it is refused when the call is prepared. */
export function readTargets(paths: readonly string[], scopes: Scopes): readonly Target[] {
  return paths.flatMap((path) => {
    try {
      return [{ read: scopes.target(path) }];
    } catch {
      return [];
    }
  });
}

async function prepareCall(
  name: string,
  worker: CalledWorker,
  {
    call: { args, extraContext: fragments = [] },
    access: { scopes, caller },
    policies: more,
    digest,
  }: {
    readonly call: ToolsetCall;
    readonly access: PrepareAccess;
    readonly policies: readonly AttachmentPolicy[];
    readonly digest: string | undefined;
  },
): Promise<Preparation> {
  const { depth, maxDepth } = caller;
  if (depth + 1 > maxDepth) {
    throw toolFailure(
      "limit",
      `\`${caller.name}\` (depth ${depth}) cannot call \`${name}\`: it would run at depth ${depth + 1}, and the limit is ${maxDepth}`,
      "finish the work here, without calling a worker",
    );
  }
  const { jsonSchema } = worker.input;
  const policies = [...(caller.attachmentPolicy ? [caller.attachmentPolicy] : []), worker.attachmentPolicy, ...more];
  const files = await readAttachments(attachmentPaths(jsonSchema, args), scopes, policies);
  const readApproval =
    (await findAskingFile(
      files.map(({ name }) => name),
      scopes,
    )) !== undefined;
  const canonicalArgs = withAttachmentPaths(jsonSchema, args, files.map((file) => file.name).values()) as JsonObject;
  const payload: WorkerPayload = { caller, files, fragments };
  // The call itself changes nothing: what its tools do is recorded as theirs.
  const facts = { files: describeFiles(files), readApproval, ...(digest === undefined ? {} : { digest }) };
  return { canonicalArgs, targets: [], sideEffect: false, facts, payload };
}
