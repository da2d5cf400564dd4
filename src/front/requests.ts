import type { ApprovalPolicy } from "../approval/policy.ts";
import { type DefinedWorker, isDefinedWorker } from "../compile/define-worker.ts";
import type { ForkPoint } from "../effects/fork-point.ts";
import type { Host } from "../host/host.ts";
import { type RunReference, referenceTable } from "../journal/stores/find-store.ts";
import type { PriceOverrides } from "../models/prices.ts";
import type { Provider } from "../models/provider.ts";
import type { Program } from "../program/program.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { EventSink } from "../protocol/event.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { TraceLookup } from "../protocol/trace-context.ts";
import type { Limits } from "../protocol/usage.ts";
import type { RunResult } from "../runtime/run-entry.ts";
import {
  anyOption,
  flagOption,
  functionOption,
  isObject,
  listOf,
  listOption,
  type OptionCheck,
  type OptionTable,
  objectOption,
  textOption,
  textsOption,
} from "../util/check-options.ts";
import type { UndoOptions } from "./undo.ts";

/** Workers in code. Requests keep their types, which tell the type of the output. */
export type DefinedWorkers = readonly DefinedWorker[];

export interface CompileRequest<Workers extends DefinedWorkers = DefinedWorkers, Entry extends string = string> {
  /**
   * A folder with a `main.worker`, a `.worker` file (both relative to the working directory), or the name of a worker, which is
   * looked for from there upwards. Default: the working directory.
   */
  readonly target?: string;
  /** In the place of a target: exactly these files, and what they refer to, make the program. */
  readonly files?: readonly string[];
  /**
   * In the place of a target: workers that `defineWorker` made. Their paths are relative to the working directory; `files` can add code
   * and a manifest.
   */
  readonly workers?: Workers;
  /** A worker's name, or `tools.ts:main`. Default: the file itself, or `main`; the first of `workers`. */
  readonly entry?: Entry;
  /** The default model of the whole run; a worker's own `model` comes first. */
  readonly model?: string;
  /** Over what files say: `key=value` for the entry, `worker.key=value` for another worker. The last one holds. */
  readonly set?: readonly string[];
  /** `pattern=provider:name`, over the model that the workers whose names match name themselves. */
  readonly modelFor?: readonly string[];
  /** Rules for calls, as a run's policy has them: `explain` and `check` know of them then. */
  readonly rules?: readonly ApprovalRule[];
  /** Declared scope to the folder that it is here, relative to the working directory, in every worker that declares it. */
  readonly scopes?: Readonly<Record<string, string>>;
  /** The program's code may run. Default false: it is read, and its exports stay unverified. */
  readonly trust?: boolean;
  /** A worker without a model is an error, not a hint. Default false. */
  readonly toRun?: boolean;
  /** Providers beside those that come with llm-do, for this compilation or run alone. One of the same name takes its place. */
  readonly providers?: readonly Provider[];
  /**
   * A recorded run: the program is compiled as that run sees it, without the workers that the run created. Default: as it is. `resume`, `replay` and `fork` do so by themselves.
   */
  readonly forRun?: RunReference;
  /** Default: this machine. */
  readonly host?: Host;
}

/** A program to be compiled, or one that is. */
export interface ProgramRequest<Workers extends DefinedWorkers = DefinedWorkers, Entry extends string = string>
  extends Omit<CompileRequest<Workers, Entry>, "toRun"> {
  /**
   * A program that `compile` returned, in the place of `target`, `files` and all that says how to compile them; to run or replay
   * it, with `toRun: true`. Nothing is read again. Default for `host` and `providers`: those that it was compiled with.
   */
  readonly program?: Program;
}

export interface JudgeRequest extends ProgramRequest, Pick<ApprovalPolicy, "unisolated"> {}

export interface ReplayRequest extends ProgramRequest, RunReference {
  /** Receives the events of the replayed run. */
  readonly onEvent?: EventSink;
}

/**
 * A new run that takes the recorded answers of another one up to a point, and goes on live from there. `input`, `fragments`,
 * `attachments` and `history` replace the recorded ones together; without `input`, all are the recorded ones.
 */
export interface ForkRequest<Workers extends DefinedWorkers = DefinedWorkers, Entry extends string = string>
  extends RunRequest<Workers, Entry>,
    Omit<RunReference, "store"> {
  /** The request that is the first one to be made. Default: the last one of the entry. */
  readonly at?: ForkPoint;
}

export interface UndoRequest extends Pick<CompileRequest, "host">, UndoOptions {}

/** A run that goes on. Its input is the recorded one; limits are those of the record, and over them these. */
export interface ResumeRequest<Workers extends DefinedWorkers = DefinedWorkers, Entry extends string = string>
  extends Omit<RunRequest<Workers, Entry>, "input" | "fragments" | "attachments" | "history" | "journal">,
    Omit<RunReference, "store"> {
  /** Goes on with a run of another machine, whose processes cannot be looked at. Default false. */
  readonly takeOver?: boolean;
  /** Goes on from the first request that is not the recorded one as a fork, a new run. Default false: rejects with `changed`. */
  readonly fromHere?: boolean;
}

export interface RunRequest<Workers extends DefinedWorkers = DefinedWorkers, Entry extends string = string>
  extends Omit<ProgramRequest<Workers, Entry>, "rules"> {
  /** Policy of approvals. Required: no run has a default policy. */
  readonly approval: ApprovalPolicy;
  /** The entry's input by its fields, or a text that fills `input` (or else the only required string). */
  readonly input?: JsonObject | string;
  /** Context beside the input, each text a part of its own, after the entry's own fragments. */
  readonly fragments?: readonly string[];
  /** Files for the entry, beside the input. Paths are the caller's own: no scope confines them. */
  readonly attachments?: readonly ({ readonly path: string } | { readonly name: string; readonly bytes: Uint8Array })[];
  /**
   * The conversation that the entry goes on with: `messages` of an earlier run's output. They stand before the input and are not
   * changed. The entry must be a worker. Default: none.
   */
  readonly history?: readonly Message[];
  readonly limits?: Limits;
  /** Over the table's, by model: `provider:name`, or a pattern. In dollars for a million tokens; the last one that fits holds. */
  readonly prices?: PriceOverrides;
  /** True if the run is recorded. Default: what the manifest says, or else true. */
  readonly journal?: boolean;
  /** The place of its record: absolute path of a folder, or a store. Default: `LLM_DO_STORE`, or else the user's state folder. */
  readonly store?: RunReference["store"];
  readonly onEvent?: EventSink;
  /** Names the span of a call, which MCP servers get with its requests: `createTelemetry` of `llm-do/otel` has it. */
  readonly traceOf?: TraceLookup;
  /**
   * Events hold all that each call begins with, and the stacks of tools that throw; as `debug: true` in a worker. Default false.
   */
  readonly debug?: boolean;
  /** Stream responses, so that `onEvent` gets `text-delta`s. Default false. */
  readonly deltas?: boolean;
  /** Every message of every call. */
  readonly onMessage?: (callPath: CallPath, message: Message) => void;
  readonly signal?: AbortSignal;
}

export interface CreateWorkerOptions {
  /** The name or id of the worker that the new one never has more than. Default: the entry. */
  readonly creator?: string;
  /** Keys of a worker file for what the spec does not name, in place of the manifest's `generated_workers`. */
  readonly defaults?: JsonObject;
  /** Replaces a created worker of the same name, unless it is locked. Default false. */
  readonly force?: boolean;
}

export interface RunOutput extends RunResult {
  /** The conversation of the entry, if it is a worker; its history first. `history` of another run takes it. */
  readonly messages: readonly Message[];
}

/**
 * As `RunOutput`, with the type of an output schema. An answer that a limit stopped or that was cut off can be text that does not fit it:
 * `stopReason` tells.
 */
export type TypedRunOutput<Output> = Omit<RunOutput, "output" | "stopReason"> &
  (
    | { readonly stopReason: "done"; readonly output: Output }
    | { readonly stopReason: "limit" | "cut"; readonly output: Output | string }
  );

/** The output type of the worker that `Entry` names, or else of the first one. Unknown or never where the types do not tell. */
type EntryOutput<Workers extends DefinedWorkers, Entry extends string> = [Entry] extends [never]
  ? OutputOfEntry<Workers[0], Workers[0]["name"]>
  : OutputOfEntry<Workers[number], Entry>;

type OutputOfEntry<W extends DefinedWorker, Entry extends string> =
  W extends DefinedWorker<infer Name, infer Output> ? ([Entry] extends [Name] ? Output : never) : never;

/** The result of a run of such a request. */
export type EntryRun<Workers extends DefinedWorkers, Entry extends string, Output = EntryOutput<Workers, Entry>> =
  // Never: no worker in code is known to be the entry.
  [Output] extends [never] ? RunOutput : unknown extends Output ? RunOutput : TypedRunOutput<Output>;

const compileTable: OptionTable<CompileRequest> = {
  target: textOption,
  files: { ...textsOption, wanted: 'a list of paths, such as `["main.worker", "tools.ts"]`' },
  workers: listOf("a list of what `defineWorker` makes", isDefinedWorker),
  entry: textOption,
  model: textOption,
  set: textsOption,
  modelFor: textsOption,
  rules: listOption,
  scopes: { wanted: "an object from scopes to folders", fits: (value) => isObject(value) && Object.values(value).every(isText) },
  trust: flagOption,
  toRun: flagOption,
  forRun: objectOption,
  providers: listOf("a list of providers, each with `name` and `create`", isProvider),
  host: objectOption,
};

const { toRun: _, ...sourceTable } = compileTable;
const programTable: OptionTable<ProgramRequest> = { ...sourceTable, program: objectOption };
const { rules: _rules, ...ruledTable } = programTable;

const runTable: OptionTable<RunRequest> = {
  ...ruledTable,
  approval: anyOption,
  input: { wanted: "a text, or an object of the entry's fields", fits: (value) => isObject(value) || isText(value) },
  fragments: textsOption,
  attachments: listOf("a list of `{ path }` or `{ name, bytes }`", isAttachment),
  history: listOption,
  limits: objectOption,
  prices: objectOption,
  journal: flagOption,
  store: referenceTable.store,
  onEvent: functionOption,
  traceOf: functionOption,
  debug: flagOption,
  deltas: flagOption,
  onMessage: functionOption,
  signal: { wanted: "an `AbortSignal`", fits: (value) => value instanceof AbortSignal },
};

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isProvider(value: unknown): boolean {
  return isObject(value) && isText(value["name"]) && typeof value["create"] === "function";
}

function isAttachment(value: unknown): boolean {
  if (!isObject(value)) return false;
  return isText(value["path"]) || (isText(value["name"]) && value["bytes"] instanceof Uint8Array);
}

function isForkPoint(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { callPath = "", turn = 1 } = value;
  return isText(callPath) && Number.isSafeInteger(turn) && Number(turn) > 0;
}

const {
  history: _history,
  input: _input,
  fragments: _fragments,
  attachments: _attachments,
  journal: _journal,
  ...resumeTable
} = runTable;

const renamed = {
  prompt: "pass the text as `input`",
  rules: "write `approval: { rules: … }`",
  approver: "write `approval: { approver: … }`",
  mode: "write `approval: { mode: … }`",
};

const createTable: OptionTable<CreateWorkerOptions> = { creator: textOption, defaults: objectOption, force: flagOption };

export const createOptions: OptionCheck<CreateWorkerOptions> = { path: "createWorker", table: createTable };
export const compileOptions: OptionCheck<CompileRequest> = { path: "compile", table: compileTable };
export const runOptions: OptionCheck<RunRequest> = { path: "run", table: runTable, renamed };
export const resumeOptions: OptionCheck<ResumeRequest> = {
  path: "resume",
  table: { ...resumeTable, ...referenceTable, takeOver: flagOption, fromHere: flagOption },
  renamed,
};
export const undoOptions: OptionCheck<UndoRequest> = {
  path: "undo",
  table: {
    ...referenceTable,
    host: objectOption,
    call: textOption,
    within: textsOption,
    program: objectOption,
    confirm: functionOption,
  },
};
export const forkOptions: OptionCheck<ForkRequest> = {
  path: "fork",
  table: { ...runTable, ...referenceTable, at: { wanted: "`{ callPath, turn }`", fits: isForkPoint } },
  renamed,
};
export const judgeOptions: OptionCheck<JudgeRequest> = {
  path: "judgeCalls",
  table: { ...programTable, unisolated: flagOption },
};
export const replayOptions: OptionCheck<ReplayRequest> = {
  path: "replay",
  table: { ...programTable, ...referenceTable, onEvent: functionOption },
};
