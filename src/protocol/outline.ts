import type { AttachmentPolicy } from "./attachment-policy.ts";
import type { JsonSchema } from "./tool.ts";
import type { Limits } from "./usage.ts";

/**
 * Describes what a program is made of and what it could do, as plain data, for `explain`. Made without a model call, and without
 * running any of the program where it is not trusted. Paths are relative to `root` where they lie in it, with `/`.
 */
export interface Outline {
  readonly v: 1;
  readonly name: string;
  /** Absolute. */
  readonly root: string;
  readonly trusted: boolean;
  readonly entry:
    | { readonly kind: "worker"; readonly id: string }
    | { readonly kind: "code"; readonly name: string; readonly file: string; readonly scopes: readonly OutlinedScope[] };
  /** In the order in which calls from the entry reach them. */
  readonly workers: readonly OutlinedWorker[];
  /** Names that code calls: the code of tools that declare `calls`, and an entry that is code. */
  readonly callables: readonly OutlinedCallable[];
  /** Limits of a run, from the manifest. */
  readonly limits: Limits;
  /** Mode that the manifest sets. */
  readonly approval?: "prompt" | "reject_all";
  /** Everything that the entry could do, itself or through its calls. */
  readonly ceiling: Ceiling;
  /** SHA-256 of the ceiling: it changes when the program could do more, or less, and not at each edit. */
  readonly ceilingDigest: string;
}

export interface OutlinedWorker {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly file: string;
  /** Name and id of the worker that created it. Absent: a person wrote its file. */
  readonly createdBy?: { readonly name: string; readonly id: string };
  /** Null if no model is set. */
  readonly model: OutlinedModel | null;
  readonly compatibleModels?: readonly string[];
  readonly input: JsonSchema;
  /** Absent: text. */
  readonly output?: JsonSchema;
  readonly scopes: readonly OutlinedScope[];
  /** Present if its tools start programs of the machine. `isolationRequired`: no run begins where they cannot be isolated. */
  readonly commands?: { readonly networkEnabled: boolean; readonly isolationRequired: boolean };
  /** An estimate of what its first request holds without its input. Tools that are known when they connect are left out. */
  readonly context: readonly ContextPart[];
  readonly limits: Limits;
  readonly attachments: AttachmentPolicy;
  /** The function that answers before the prompt, as written. */
  readonly code?: string;
  readonly toolsets: readonly OutlinedToolset[];
}

/** A part of a request: `instructions`, `tool read_file`, the path of a fragment. */
export interface ContextPart {
  readonly part: string;
  /** At four characters each. */
  readonly tokens: number;
}

/** `namedBy`: `user` if a flag, a variable or the library set it, `program` if a file of the program did. */
export interface OutlinedModel {
  readonly id: string;
  readonly source: string;
  /** Its address, as the manifest writes it, if the manifest has one. */
  readonly address?: string;
  readonly namedBy: "program" | "user";
}

export interface OutlinedScope {
  readonly name: string;
  readonly root: string;
  readonly mode: "ro" | "rw";
  /** True if it lies outside of the program's folder. */
  readonly outside: boolean;
  /** True if the user chose the root by `--scope`. */
  readonly isChosen?: boolean;
  /** True for a folder of skills: its files count as the program's own. */
  readonly isPinned?: boolean;
  readonly suffixes?: readonly string[];
  readonly maxFileBytes?: number;
  readonly writeApproval: boolean;
  /** `write_approval: true` is written out: no pre-approval lifts it. */
  readonly writesAlwaysAsk?: true;
  readonly readApproval: boolean;
}

export interface OutlinedToolset {
  /** The name under `toolsets`. */
  readonly reference: string;
  /**
   * `unverified`: code that was not looked at for lack of trust, so that its tools are not known. `provider`: executed by the
   * model's provider, and not gated call by call.
   */
  readonly kind: "built-in" | "code" | "worker" | "provider" | "unverified";
  /** The worker's id, where it is one. */
  readonly worker?: string;
  /** Ids of the workers that it calls by name, where it is `delegation`. */
  readonly workers?: readonly string[];
  /** The file that it comes from, where it is code. */
  readonly file?: string;
  readonly tools: readonly OutlinedTool[];
  /** Its tools start programs of the machine, and ask where these cannot be isolated. Absent: no. */
  readonly startsPrograms?: true;
  /** Texts of the toolset for what its configuration lets through: `git log, without a question`. */
  readonly rules?: readonly string[];
  /** The tools that it had when it last connected. Absent: it never did here, or connects to nothing. */
  readonly estimate?: ToolsEstimate;
  /** Powers of the worker, its own or through its callees, that its caller lacks: the question of a call says so. */
  readonly beyond?: readonly string[];
}

export interface ToolsEstimate {
  readonly tools: number;
  /** About as many tokens are in each request for them: a quarter of the characters. */
  readonly tokens: number;
  /** How many of the tools a model searches for: of them, the names alone are counted. */
  readonly deferred: number;
}

export interface OutlinedTool {
  /** The name by which a model calls it. */
  readonly name: string;
  readonly description: string;
  readonly plan: ToolPlan;
  /** Value under `_approval_config` of the worker. Absent: none. */
  readonly preApproved?: boolean;
  /** The line of the worker's file that would allow what asks. Absent if none does. */
  readonly allow?: string;
  /** The calls that its code may make. */
  readonly calls?: readonly string[];
  /**
   * Known only when its toolset connects: it may not be there. The name `*` stands for all tools that are not named. Absent: no.
   */
  readonly unverified?: true;
}

/** A worker, or a tool of the program, under the name that code calls. */
export interface OutlinedCallable {
  readonly name: string;
  readonly plan: ToolPlan;
  /** The calls that its own code may make. */
  readonly calls?: readonly string[];
}

/** The outcome of calls of a tool. `depends`: the toolset judges each call by its arguments; `why` says within which bounds. */
export interface ToolPlan {
  readonly verdict: "allowed" | "asks" | "blocked" | "depends";
  readonly why: string;
}

/** Each list is sorted and without repetitions. */
export interface Ceiling {
  readonly workers: readonly string[];
  /** The models that could see what is read, with the address where the manifest names one. */
  readonly models: readonly string[];
  /** Roots of scopes. What can be written can be read. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** `filesystem/write_file asks`: toolset, tool and plan. */
  readonly tools: readonly string[];
  /** `shell: git log, without a question`: what the configuration of toolsets lets through. */
  readonly rules: readonly string[];
  /** Files that run as code, with all rights of the user. */
  readonly code: readonly string[];
  /**
   * npm packages that this code loads, with those that they depend on: `dep 1.2.0 (node_modules/dep)`; absent if there is
   * none.
   */
  readonly packages?: readonly string[];
  /** Variables of the environment that the configuration takes; absent if there is none. */
  readonly variables?: readonly string[];
  /** Ids of workers whose programs may use the network; absent if there is none. */
  readonly network?: readonly string[];
  /** References whose tools are not known for lack of trust. */
  readonly unverified: readonly string[];
}
