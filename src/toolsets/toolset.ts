import type { ScopeDeclaration, Scopes } from "../host/scopes/scopes.ts";
import type { Preview } from "../protocol/approval.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolsEstimate } from "../protocol/outline.ts";
import type { ToolError, ToolErrorType } from "../protocol/tool.ts";
import type { Schema } from "../schema/schema.ts";
import type { WorkerRuntime } from "./worker-runtime.ts";

export type { AttachmentHandle, CallOptions, MapOptions, WorkerRuntime } from "./worker-runtime.ts";

/** Marks, by `Symbol.for`, so that two installed copies of llm-do recognise each other's tools. */
export const toolMark: unique symbol = Symbol.for("llm-do.tool");
export const toolsetMark: unique symbol = Symbol.for("llm-do.toolset");
/** On the `execute` of tools behind `createToolGate`. Behind a second gate, a denial of the first would pass for a result. */
export const gatedMark: unique symbol = Symbol.for("llm-do.gated");

/** One executable thing. Made by `tool()`, or by a toolset. */
export interface Tool {
  readonly [toolMark]: true;
  /** `[A-Za-z][A-Za-z0-9_-]{0,63}`. A tool exported by `tools.ts` is named after its export. */
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** Never runs beside another call of the same worker. Default: calls of one turn run in parallel. */
  readonly sequential?: boolean;
  /** Verdict that holds where neither a rule nor a worker says otherwise. Default: every call asks. */
  readonly approval?: "pre-approved" | "ask";
  /** False only if executing it changes nothing anywhere. Default true: the journal is on disk before it runs. */
  readonly sideEffect?: boolean;
  /**
   * The longest that one execution may take. After it the call fails with the type `timeout`, `signal` aborts, and the run goes on.
   * The calls that it has made end, too. Default: no limit of its own.
   */
  readonly timeoutSeconds?: number;
  /** The workers and tools that `execute` may call through its runtime. Nothing else is reachable from it. */
  readonly calls?: readonly string[];
  /**
   * True if a run that goes on can enter its code again: besides calls it does `step` and `now` alone. For tools with `calls`.
   * Default: a person is asked.
   */
  readonly replayable?: boolean;
  /** True if `execute` itself ends soon after an abort. Others are abandoned: they may go on, and nobody waits for them. */
  readonly settlesOnAbort?: boolean;
  /**
   * Says whether a call had its effect that was recorded as begun, and of whose end nothing is recorded. Looks, and changes
   * nothing. Absent: `unknown`.
   */
  reconcile?(recorded: RecordedPreparation, access: Pick<PrepareAccess, "scopes" | "signal">): Promise<Reconciliation>;
  /**
   * Does the work; only the gate calls it. `args` are validated and canonical; `payload` is what `prepare` made for exactly these
   * arguments. A thrown error becomes a tool result for the model (a `ToolFailure` as it says); it never ends the run.
   */
  execute(args: JsonObject, runtime: WorkerRuntime, payload?: unknown): unknown;
}

/**
 * A named, configured collection of tools. Plain object, no base class. Only the gate calls what is in it.
 * `Config` is what its config schema makes of the map under its reference in a worker file.
 */
export interface Toolset<Config = unknown> {
  readonly [toolsetMark]: true;
  readonly name: string;
  readonly config?: Schema<Config>;
  /** Requirements, checked at compile time. */
  readonly requires?: readonly ToolsetRequirement[];
  /** The tools of this configuration. Called once, at compile time; touches nothing. */
  tools(config: Config, scope: ToolsetScope): readonly Tool[];
  /**
   * Connects to what has more tools, beside those of `tools`: a server, a child process. Called in a run, before the first request
   * of a worker that declares the toolset; never while a program is compiled, judged or replayed. A rejection, or what is no
   * `Connection`, fails the call of that worker as `unavailable`. Set a time limit inside: only an abort or a limit of the run ends
   * it from outside. What arrives after an abort is closed.
   */
  connect?(config: Config, access: ConnectAccess): Promise<Connection>;
  /**
   * Describes the tools that it had when it last connected, for `explain`. Reads what an earlier run kept, and connects to nothing.
   * Absent, or undefined: nothing is known.
   */
  estimate?(config: Config, access: Pick<ConnectAccess, "folder">): Promise<ToolsEstimate | undefined>;
  /**
   * How long a connection lasts. `call` (default): one for each call of a worker, closed at its end. `run`: one for all workers that
   * refer to the toolset by the same name with the same configuration, closed at the end of the run.
   */
  readonly lifetime?: "run" | "call";
  /** True if the other end keeps state that is lost with the connection. Default false. */
  readonly session?: boolean;
  /**
   * Returns what a call touches, by its arguments alone, which are not validated yet. Calls of one turn that share a target are
   * prepared, asked for and executed in the order in which the model requested them; the others run in parallel. A tool with
   * `calls` holds its targets until it is granted, and not while it executes. Pure. Absent: no call waits.
   */
  targets?(call: ToolsetCall<Config>, access: Pick<PrepareAccess, "scopes">): readonly Target[];
  /**
   * Looks at what a call is about: opens what it needs, read-only and bounded, and says what would be done. Called
   * before the question and again after it; if the digests differ the call is refused as `changed`.
   */
  prepare?(call: ToolsetCall<Config>, access: PrepareAccess): Promise<Preparation>;
  /** The toolset's own verdict. Pure: rules, arguments and preparation alone. Absent: every call asks unless pre-approved. */
  needsApproval?(call: PreparedToolsetCall<Config>): OwnVerdict;
  /**
   * Returns the verdict of today on a call that was recorded, of which nothing but this is known: in a replay nothing can be looked at.
   * `scopes` resolve paths, and are empty. Absent, or undefined: the recorded verdict counts.
   */
  judgeRecorded?(call: RecordedToolsetCall<Config>, scopes: Scopes): OwnVerdict | undefined | Promise<OwnVerdict | undefined>;
  /**
   * The verdicts that calls of a tool can come to, for whoever wants to know before a run. Pure. Absent: it depends on each
   * call. Protected names ask or block whatever this says.
   */
  outlook?(tool: string, config: Config, scopes: readonly ScopeDeclaration[]): readonly OwnVerdict[];
  /**
   * Returns what a configuration lets calls do, a text each, for people and for comparing two configurations: one that has a text
   * which the other has not can do more. `written`: the map as the file has it, with variables of the environment by name. Pure.
   */
  rules?(config: Config, written: JsonObject, scope: ToolsetScope): readonly string[];
  /**
   * Returns parts of a valid configuration that its author cannot have meant; reported as warnings at compile time. `preApproved`:
   * the tools that the author pre-approves. Pure.
   */
  warnings?(config: Config, scope: ToolsetScope, preApproved: readonly string[]): readonly ConfigWarning[];
  /**
   * Grants a worker that is created its wish for a configuration, if that is no more than `own`, its creator's; else says what may be
   * had. `scopes`: those of the new worker. Pure. Absent: `own` alone can be had.
   */
  narrow?(own: JsonObject, wish: JsonObject, scopes: readonly string[]): Narrowed;
  /**
   * Returns the texts that patterns of approval rules are compared with, by argument, where these differ from the argument: the
   * commands of a shell's line, say. A rule that allows needs all texts of an argument to match; one that asks or blocks, any, or
   * something that the argument may stand for besides. A question proposes to allow the folder of such a text. Pure.
   */
  ruleTexts?(call: PreparedToolsetCall<Config>): Readonly<Record<string, readonly RuleText[]>>;
  /**
   * Arguments that give a call rights beyond those of others. A rule of the run that allows has to name each that `ruleTexts` has texts
   * for. Default: none.
   */
  readonly grants?: readonly string[];
  /** One line for a person: `Write 120 characters to reports/a.md`. Pure. */
  describeCall?(call: PreparedToolsetCall<Config>): string;
  /** Returns what a person must see to judge the call. Pure. */
  preview?(call: PreparedToolsetCall<Config>): Preview | undefined;
  /**
   * Called once before the first execution and once after the last one of a worker's call; neither where none of its tools is
   * executed. `close` is called on every exit path once `open` was.
   */
  open?(config: Config): Promise<void>;
  close?(config: Config): Promise<void>;
}

export interface ConnectAccess {
  /** Aborts when nobody waits for the connection any more. */
  readonly signal: AbortSignal;
  /** As in `ToolsetScope`. */
  readonly networkEnabled: boolean;
  /** Absolute host path of the program's folder. */
  readonly folder: string;
  /** Emits a warning of the run, also while the connection lasts. */
  warn(message: string): void;
}

/** A connected toolset. Owned by the run, which closes it. */
export interface Connection {
  /**
   * Stay as they are while the connection lasts: a call of a tool that the other end has dropped is the tool's failure. No two
   * have one name, and none has `calls`.
   */
  readonly tools: readonly Tool[];
  /**
   * Names of tools whose definitions a model gets when it has searched for them. Until then it knows their names, from the
   * description of `search_tools`, which every worker with such tools has. Default: none.
   */
  readonly deferred?: readonly string[];
  /** Texts of servers about their tools. The model gets them as texts of somebody else, with the input. Default: none. */
  readonly notes?: readonly ConnectionNote[];
  /** Additional identity of the definitions, such as the version of a server. They are fingerprinted themselves. */
  readonly fingerprint?: string;
  /** Changes since the last approval. Each asks before a tool is offered; a denial fails the worker's call. */
  readonly changes?: readonly ConnectionChange[];
  /** Called once, on every way out. What it rejects with is a warning; after five seconds nobody waits for it. */
  close?(): Promise<void>;
}

/** An untrusted text. `from` names who wrote it: `the MCP server notes`. */
export interface ConnectionNote {
  readonly from: string;
  readonly text: string;
}

/** Texts that are shown as a difference. */
export interface ConnectionChange {
  /** Identifies the server among those of the connection. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Called when the change was approved. */
  accept(): Promise<void>;
}

/**
 * `scopes`: a scope that its worker can read. `network`: `sandbox.network_enabled` of its worker. `tools.ts`: code of the program
 * beside its own. `commands`: it runs programs of the machine, so that a program which uses it has to be trusted.
 * `trust`: the program has to be trusted, for what `rules` says.
 */
export type ToolsetRequirement = "scopes" | "network" | "tools.ts" | "commands" | "trust";

export interface ConfigWarning {
  /** Keys and indexes from the map under the toolset's reference. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The program does not compile with it. Default: it is a warning. */
  readonly isError?: true;
  /** It is a hint: the configuration does what it says, which may be less than its author means. */
  readonly isHint?: true;
}

export type Narrowed = { readonly ok: true; readonly config: JsonObject } | { readonly ok: false; readonly why: string };

/** A text that stands for an argument; or one that it may stand for besides, which matters to rules that ask or block alone. */
export type RuleText = string | PossibleText;

export interface PossibleText {
  readonly text: string;
  /** It may go on in any way: what lies in a folder, or what only a shell can tell. */
  readonly open?: boolean;
}

/** Facts about the worker that a toolset knows while it lists its tools. */
export interface ToolsetScope {
  readonly worker: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Names of scopes whose files are pinned. Default: none. */
  readonly pinned?: readonly string[];
  /** Suffixes of the files in a scope, by its name. Scopes that are not in it, or all without it, have files of any suffix. */
  readonly suffixes?: ReadonlyMap<string, readonly string[]>;
  /** True if programs that its tools start may use the network (`sandbox.network_enabled`). */
  readonly networkEnabled: boolean;
  /** True if programs that its tools start have to be isolated (`sandbox.required`). Default false. */
  readonly isolationRequired?: boolean;
}

export interface ToolsetCall<Config = unknown> {
  readonly tool: string;
  readonly args: JsonObject;
  readonly config: Config;
  /** Texts that code passes beside the input of a worker. */
  readonly extraContext?: readonly string[];
}

/** A call as a record has it. `own`: its toolset's verdict then. */
export interface RecordedToolsetCall<Config = unknown> extends Omit<ToolsetCall<Config>, "extraContext"> {
  readonly facts: JsonObject;
  readonly own: OwnVerdict;
}

/** The worker or code that makes a call. */
export interface ToolCaller {
  readonly name: string;
  /** Only of a worker. */
  readonly id?: string;
  /** Only of a worker that was created in a run: as in `Worker`. */
  readonly creators?: readonly (readonly string[])[];
  /** 0 for the entry. */
  readonly depth: number;
  /** The deepest call of a worker that is allowed below it. */
  readonly maxDepth: number;
  /** Only of a worker. */
  readonly attachmentPolicy?: AttachmentPolicy;
}

export interface PreparedToolsetCall<Config = unknown> extends ToolsetCall<Config> {
  readonly preparation: Preparation;
}

export interface PrepareAccess {
  readonly scopes: Scopes;
  readonly signal: AbortSignal;
  readonly caller: ToolCaller;
  /** As in `ToolsetScope`. */
  readonly networkEnabled: boolean;
  /** True if the caller of the run lets programs run unasked if they cannot be isolated (`--unisolated`). Default false. */
  readonly unisolated?: boolean;
  /**
   * Returns the SHA-256 of a text's UTF-8, in hex, for `Preparation.recorded`; undefined for a text with a secret of the run: a digest
   * confirms a guess. Absent: no text has one.
   */
  readonly digestToRecord?: (text: string) => string | undefined;
}

/**
 * Something that a call changes (`db/users`), or only reads. Names between slashes contain one another: `db` is everything in
 * it. Calls that read the same target run in parallel. `Scopes.target` gives the target of a file.
 */
export type Target = string | { readonly read: string };

export interface Preparation {
  /** The arguments in their one form: what is judged, shown, remembered and run. */
  readonly canonicalArgs: JsonObject;
  /** Targets of the call that only looking can find. Calls of the run that share one never overlap; they have no order. */
  readonly targets: readonly string[];
  /** Facts about the world that the judgement rests on (identities, content hashes). Compared after the question. */
  readonly facts: JsonObject;
  /**
   * Content that an approval for the run is bound to, beside the arguments and the reason why the call asks: what the question
   * shows, without facts that change while the content stays (times, inodes). `after`: the same once the call has run, so that
   * the same call again does not ask. Default: `facts`, and the preview.
   */
  readonly content?: { readonly now: JsonValue; readonly after?: JsonValue };
  /** Kept in the journal for `Tool.reconcile`, and compared with nothing. Default: nothing. */
  readonly recorded?: JsonObject;
  /** Hint for the model where the call is denied. */
  readonly hint?: string;
  /** Overrides the tool's `sideEffect`. */
  readonly sideEffect?: boolean;
  /** Handed to `execute`, `needsApproval`, `describeCall` and `preview`; never journalled. */
  readonly payload?: unknown;
}

/** The part of a preparation that a journal keeps. */
export type RecordedPreparation = Pick<Preparation, "canonicalArgs" | "facts" | "recorded">;

/** `done`: with the result of the call, where it can be told. */
export type Reconciliation = "done" | "not-done" | "unknown" | { readonly done: JsonValue };

/**
 * `default`: the toolset's general caution, which the author of a worker may lift with `pre_approved: true`.
 * `rule`: something that an author wrote, or a protected name; no `pre_approved` lifts it.
 * `effects`: rights that the call asks for, and that no configuration gives; a rule of the run that names them lifts that, and no
 * `pre_approved`.
 */
export type OwnVerdict =
  | { readonly type: "pre-approved"; readonly why?: string }
  | { readonly type: "needs-approval"; readonly by: "default" | "effects" | "rule"; readonly why?: string }
  | { readonly type: "blocked"; readonly why: string };

export function preApproved(why?: string): OwnVerdict {
  return why === undefined ? { type: "pre-approved" } : { type: "pre-approved", why };
}

export function needsApproval(why?: string, by: "default" | "effects" | "rule" = "default"): OwnVerdict {
  return why === undefined ? { type: "needs-approval", by } : { type: "needs-approval", by, why };
}

export function blocked(why: string): OwnVerdict {
  return { type: "blocked", why };
}

/** Thrown by a tool (or a toolset's `prepare`) to tell the model what went wrong and what to try next. */
export class ToolFailure extends Error {
  readonly toolError: ToolError;

  constructor(toolError: ToolError, options?: { cause?: unknown }) {
    super(toolError.error, options);
    this.name = "ToolFailure";
    this.toolError = toolError;
  }
}

/** Thrown by a tool that settles on abort, with what it has produced until then, for the journal alone. */
export class ToolInterrupted extends Error {
  readonly partial: JsonValue;

  constructor(partial: JsonValue, options: { cause: unknown }) {
    super("the tool was interrupted", options);
    this.name = "ToolInterrupted";
    this.partial = partial;
  }
}

export function toolFailure(type: ToolErrorType, error: string, hint?: string): ToolFailure {
  return new ToolFailure(hint === undefined ? { error, type } : { error, type, hint });
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[toolMark] === true;
}

export function isGated(execute: unknown): boolean {
  return typeof execute === "function" && (execute as unknown as Record<symbol, unknown>)[gatedMark] === true;
}

export function isToolset(value: unknown): value is Toolset {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[toolsetMark] === true;
}
