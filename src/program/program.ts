import type { ToolsetBinding } from "../approval/gate-types.ts";
import type { ScopeDeclaration } from "../host/scopes/scopes.ts";
import type { AuthMode } from "../models/create-model-resolver.ts";
import type { ModelSettings } from "../models/model.ts";
import type { DeclaredProvider } from "../models/providers/named-provider.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ContextPart, OutlinedModel, ToolsEstimate } from "../protocol/outline.ts";
import type { ServerTool } from "../protocol/tool.ts";
import type { Limits } from "../protocol/usage.ts";
import type { Schema } from "../schema/schema.ts";
import type { WorkerRuntime } from "../toolsets/toolset.ts";
import type { CalledWorker } from "../toolsets/workers/worker-toolset.ts";

/**
 * The linked form that compile makes and runtime runs: everything that the entry can reach, frozen. Nothing is looked up on
 * disk after it.
 */
export interface Program {
  readonly name: string;
  /** True if its manifest names it. Absent: the name is its folder's. */
  readonly isNamed?: true;
  /** Absolute host path of the program's folder. */
  readonly root: string;
  readonly entry: Entry;
  /** The reachable workers, by canonical id. */
  readonly workers: ReadonlyMap<string, Worker>;
  /** Returns a reachable worker by its id, or by its name where only one has it. */
  get(name: string): Worker | undefined;
  /** Workers and tools that code may call by name. A tool reaches those that it declares, a code entry all of them. */
  readonly callables: ReadonlyMap<string, ToolsetReference>;
  /** Absolute host paths of the files that make the program. */
  readonly files: readonly string[];
  /**
   * Absolute host paths, existing or not, that no tool may write to or below: `files`, and where code of the program, its packages
   * and its templates would be found.
   */
  readonly protectedPaths: readonly string[];
  /** Absolute host paths of folders in which no tool may write what can be code, by its name, at any depth. */
  readonly codeFolders: readonly string[];
  /** SHA-256 over the sources and the configuration: equal programs have equal digests. */
  readonly digest: string;
  /** SHA-256 of each source in the program's folder, by its path in it. */
  readonly sources: Readonly<Record<string, string>>;
  /** Values of the environment that configuration holds, by their variables' names. They must not be shown. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
  /** The manifest's: where models of its own providers are reached. */
  readonly servers: readonly DeclaredProvider[];
  /** The manifest's: of a run. Whoever starts one may set others. */
  readonly limits: Limits;
  /** The manifest's: `reject_all` holds whatever a run says; there is no way to loosen here. */
  readonly approval?: "prompt" | "reject_all";
  /** The manifest's rules, and those that it was compiled with. */
  readonly rules: readonly ApprovalRule[];
  /** The manifest's: the entry's input where a run is given none. */
  readonly args?: JsonObject;
  /** The manifest's: whether runs are recorded. */
  readonly journal?: boolean;
  /** The manifest's: all calls are shown in full detail. */
  readonly debug?: boolean;
}

export type Entry = { readonly kind: "worker"; readonly worker: Worker } | { readonly kind: "code"; readonly code: CodeEntry };

/** A function of `tools.ts` that starts a run. It has no model; what it calls goes through the gate. */
export interface CodeEntry {
  readonly name: string;
  readonly input: Schema | undefined;
  readonly scopes: readonly ScopeDeclaration[];
  /** As of a tool: it can be entered again in a run that goes on. */
  readonly replayable: boolean;
  execute(input: unknown, runtime: WorkerRuntime): unknown;
}

/** A function that answers the calls of a worker before its prompt. */
export interface WorkerCode {
  /** The export. */
  readonly name: string;
  /** As written: `tools.ts:sort_message`. */
  readonly reference: string;
  /** The way on where it throws, or gives what does not fit the output. */
  readonly onFailure: "hand_over" | "fail";
  /** It answers in a conversation that has begun, too. */
  readonly history: boolean;
  /** The worker has instructions, or another text of its own, for what the code leaves. */
  readonly hasPrompt: boolean;
  /** Answers that the prompt answers, too, to be compared. Default: none. */
  readonly check?: CodeCheck;
  execute(input: unknown, runtime: WorkerRuntime): unknown;
}

export interface CodeCheck {
  /** A share of the code's answers, from 0 to 1. */
  readonly share: number;
  /** The most dollars that a run spends on it. */
  readonly usd: number;
}

/** The linked form of a `.worker` file, or of a worker defined in code. */
export interface Worker extends CalledWorker {
  readonly name: string;
  /** Undefined if nothing names a model: such a worker compiles, and cannot run. */
  readonly model: ModelChoice | undefined;
  readonly compatibleModels: readonly string[] | undefined;
  /** Answers before the prompt. Absent: the prompt answers all calls. */
  readonly code?: WorkerCode;
  /** Settings of the model's requests. */
  readonly modelSettings: ModelSettings;
  /**
   * Renders the first request from an input that `input` has validated. Reads nothing and runs no code. Throws a
   * `TemplateError` if the values do not make a text (a loop that grows too long, a value that is not there).
   */
  render(input: JsonObject): RenderedPrompt;
  /** The parts that `render` makes its texts of, by size. */
  readonly promptParts: readonly ContextPart[];
  readonly toolsets: readonly ToolsetReference[];
  /** Tools that the provider executes: each is enabled by one grant for the run, and its calls pass no gate. */
  readonly serverTools: readonly ServerTool[];
  readonly scopes: readonly ScopeDeclaration[];
  readonly commands: CommandPolicy;
  readonly context: ContextBounds;
  readonly limits: Limits;
  /** Nothing may overwrite its file, dynamic creation with `force` included. */
  readonly locked: boolean;
  /** Says whether its model is reached by the user's login. */
  readonly auth: AuthMode;
  /** Its calls are shown in full detail. */
  readonly debug: boolean;
  /** Present for a worker that was created in a run: the workers that did, each by name and id, the nearest first. */
  readonly creators?: readonly (readonly string[])[];
}

/** How much of a conversation the model is sent. */
export interface ContextBounds {
  /** Characters (UTF-16 units) of one tool result that the model gets at once. */
  readonly maxResult: number;
  /** Tokens that a request and its answer can have together. Undefined: as the table of models says, if it knows the model. */
  readonly window: number | undefined;
}

/** About 15,000 tokens. No result of the built-in tools for files is longer. */
export const defaultMaxResult = 60_000;

/** Rules for programs of the machine that a worker's tools start. */
export interface CommandPolicy {
  readonly networkEnabled: boolean;
  /** A run does not begin where they cannot be isolated. */
  readonly isolationRequired: boolean;
}

/** Each text is a part of its own; none is empty. */
export interface RenderedPrompt {
  /** The instructions, then the system fragments. */
  readonly system: readonly string[];
  readonly user: string;
  /** Context beside `user`; the caller's fragments follow these. */
  readonly userFragments: readonly string[];
}

/** `source` says where the choice came from, in words for people: `--model`, `LLM_DO_MODEL`, `model` of the worker's file. */
export interface ModelChoice extends Pick<OutlinedModel, "id" | "source" | "namedBy"> {
  /** As records have it: a script of the program is relative to its folder, so that the program can be moved. */
  readonly recorded: string;
}

/** A toolset, or a worker as a toolset of one tool. */
export interface ToolsetReference extends ToolsetBinding {
  /** Texts of `Toolset.rules` for its configuration. Absent: the toolset has none. */
  readonly rules?: readonly string[];
  /** The tools that it had when it last connected. */
  readonly estimate?: ToolsEstimate;
  /** Present for a worker. Called after all workers of the program are linked. */
  readonly worker?: () => Worker;
  /** The workers that `delegation` may call, by name. Called after all workers of the program are linked. */
  readonly delegates?: () => ReadonlyMap<string, Worker>;
}

/** The default limit of model responses in one call. */
export const defaultTurns = 50;

export const defaultAttachmentPolicy: AttachmentPolicy = {
  maxAttachments: 4,
  maxTotalBytes: 10_000_000,
  allowedSuffixes: [],
  deniedSuffixes: [],
  mediaTypes: [],
};
