import { dirname, join, relative } from "node:path";
import type { Host } from "../../host/host.ts";
import { createWorkerRecords } from "../../host/own-files/worker-records.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { isWithin } from "../../util/within.ts";
import {
  needsApproval,
  type OwnVerdict,
  type PreparedToolsetCall,
  type Reconciliation,
  type RecordedPreparation,
  type Tool,
  type Toolset,
  type ToolsetCall,
  toolFailure,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "../toolset.ts";
import { workerTarget } from "./delegation.ts";
import {
  type DraftedWorker,
  type DraftOptions,
  type DynamicWorkers,
  type WorkerMaker,
  type WorkerSpec,
  workersOfRun,
} from "./worker-toolset.ts";

export type CreatedWorkerFile = {
  readonly worker: string;
  /** Relative to the program's folder, with `/`. */
  readonly file: string;
  /** SHA-256 of the file's text. */
  readonly digest: string;
  /** The whole file. */
  readonly definition: string;
};

export type WorkersHost = Pick<Host, "files" | "stateDirectory">;

const asks: OwnVerdict = needsApproval("a new worker is new code: nothing pre-approves it", "rule");

/** Creates workers that have no more than the worker that creates them. */
export function createDynamicWorkers(host: WorkersHost): DynamicWorkers {
  const members = { [toolsetMark]: true as const, name: "dynamic_workers", outlook: () => [asks] };
  return {
    ...members,
    tools: () => [toTool(() => Promise.reject(new Error("invariant: `worker_create` is linked to its worker")))],
    link: (maker) => {
      const reconcile = (recorded: RecordedPreparation) => findCreated(host, maker, recorded);
      const tools = [{ ...toTool((draft) => saveWorker(host, draft)), reconcile }];
      const toolset: Toolset = Object.freeze({
        ...members,
        tools: () => tools,
        targets: ({ args }: ToolsetCall) => (typeof args["name"] === "string" ? [workerTarget(args["name"])] : []),
        prepare: (call: ToolsetCall) => prepareCall(host, maker, call),
        needsApproval: () => asks,
        describeCall: ({ args }: PreparedToolsetCall) =>
          `${args["force"] === true ? "Replace" : "Create"} the worker ${String(args["name"])}`,
        preview: ({ preparation }: PreparedToolsetCall) => {
          const { file, text } = preparation.payload as DraftedWorker;
          return { type: "new-file" as const, path: file, content: text, bytes: Buffer.byteLength(text) };
        },
      });
      // In a replay the draft is made anew: of what was recorded, by the program of today.
      const settled = async (args: JsonObject, runtime: WorkerRuntime) => {
        workersOfRun(runtime)?.add(await maker.draft(...readArgs(args)));
      };
      return { toolset, config: undefined, tools, settled };
    },
  };
}

function readArgs({ force = false, ...spec }: JsonObject): [WorkerSpec, { readonly force: boolean }] {
  return [spec as WorkerSpec, { force: force === true }];
}

async function prepareCall(host: WorkersHost, maker: WorkerMaker, { args }: ToolsetCall) {
  const [spec, options] = readArgs(args);
  const draft = await maker.draft(spec, options);
  const replaces = await checkFree(host, draft, { maker, ...options });
  const facts = { digest: draft.digest, replaces: replaces ?? null };
  // Tells a run that goes on which file of its program it wrote itself.
  return { canonicalArgs: args, targets: [], facts, payload: draft, recorded: { creates: draft.file } };
}

/** Creates a worker for code that nobody is asked about. Throws a `ToolFailure` that says what can be had. */
export async function createWorkerFile(
  host: WorkersHost,
  maker: WorkerMaker,
  { spec, force = false, defaults }: Partial<DraftOptions> & { readonly spec: WorkerSpec },
): Promise<CreatedWorkerFile> {
  const draft = await maker.draft(spec, { force, ...(defaults ? { defaults } : {}) });
  await checkFree(host, draft, { maker, force });
  return saveWorker(host, draft);
}

/** Returns what the draft's file replaces. Throws a `ToolFailure` if it may not. */
async function checkFree(
  { files }: WorkersHost,
  { name, root, file }: DraftedWorker,
  { maker, force }: { readonly maker: WorkerMaker; readonly force: boolean },
): Promise<string | undefined> {
  const path = join(root, file);
  const kind = await files.kind(path);
  if (kind === undefined) return undefined;
  const text = kind === "file" ? await files.readText(path) : undefined;
  if (text === undefined || maker.isLocked(text))
    throw toolFailure("blocked", `there is a worker \`${name}\` already, and it is locked`, "take another name");
  if (!force)
    throw toolFailure(
      "invalid_arguments",
      `there is a worker \`${name}\` already`,
      "call it, take another name, or pass `force`",
    );
  return text;
}

/** Looks whether a call that may have run wrote its file, which comes last. */
async function findCreated(
  { files }: WorkersHost,
  maker: WorkerMaker,
  { canonicalArgs, facts }: RecordedPreparation,
): Promise<Reconciliation> {
  const { name, root, file, text, digest } = await maker.draft(...readArgs(canonicalArgs));
  const path = join(root, file);
  const found = (await files.kind(path)) === "file" ? await files.readText(path) : null;
  if (found === text) return { done: { worker: name, file, digest, definition: text } };
  return found === facts["replaces"] ? "not-done" : "unknown";
}

/** Writes the record first: a file without one could do nothing. */
async function saveWorker(host: WorkersHost, draft: DraftedWorker): Promise<CreatedWorkerFile> {
  const { name, root, file, text, digest, record } = draft;
  const path = join(root, file);
  await createWorkerRecords(host).keep({ folder: root, file, digest }, record);
  await host.files.makeOwnDirectory(root, relative(root, dirname(path)).split(/[\\/]/));
  const real = await host.files.realPath(path).catch(() => undefined);
  if (real !== undefined && !isWithin(real, await host.files.realPath(dirname(path))))
    throw toolFailure("blocked", `\`${file}\` is a link that leads elsewhere`, "take another name");
  await host.files.writeAtomically(path, text);
  return { worker: name, file, digest, definition: text };
}

function toTool(save: (draft: DraftedWorker) => Promise<JsonObject>): Tool {
  return Object.freeze({
    [toolMark]: true as const,
    name: "worker_create",
    description: [
      "Create a worker: a prompt with tools of its own, run by a model. It can have what you have and no more, and has nothing that you",
      "do not name. Its file is kept. From the next turn on you can call it by its name.",
    ].join(" "),
    input: fromJsonSchema(inputSchema),
    execute: async (_args: JsonObject, runtime: WorkerRuntime, payload: unknown) => {
      const draft = payload as DraftedWorker;
      // Rules of a run name a tool: one that is given for it would hold for the worker.
      if (workersOfRun(runtime)?.isTool(draft.name) === true)
        throw toolFailure("invalid_arguments", `\`${draft.name}\` is a tool of a connected toolset`, "take another name");
      return save(draft);
    },
  });
}

const text = (description: string) => ({ type: "string", description });
const map = (description: string) => ({ type: "object", description });

const inputSchema: JsonSchema = {
  type: "object",
  properties: {
    name: {
      type: "string",
      pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$",
      description: "Its name: a letter, then letters, digits, `_`, `-`.",
    },
    instructions: { type: "string", minLength: 1, description: "What it is to do: taken literally, never as a template." },
    description: text("What it does, for its callers."),
    model: text("One of your models. Default: yours."),
    toolsets: map(
      "Toolsets of yours by their names, each with its configuration: `{ filesystem: {} }`. `{}` is your configuration.",
    ),
    sandbox: map("Scopes of yours by their names: `{ paths: { notes: { mode: ro } } }`. `{}` is your default scope."),
    input: map("Its input, by fields: `{ topic: string, depth?: integer }`, or JSON Schema. Default: a text `input`."),
    output: { anyOf: [{ type: "object" }, { type: "string" }], description: "Its output, in the same form. Default: text." },
    attachment_policy: map("The attachments that it takes. Default: none."),
    server_side_tools: { type: "array", items: { type: "object" }, description: "Tools of the provider that you have, too." },
    model_settings: map("Settings of its requests, such as `{ temperature: 0 }`."),
    limits: map("Its limits, such as `{ turns: 5 }`. Yours hold for it, too."),
    force: { type: "boolean", description: "Replace a worker of this name that was created before. Default: false." },
  },
  required: ["name", "instructions"],
  additionalProperties: false,
};
