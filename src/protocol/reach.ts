import type { AttachmentPolicy } from "./attachment-policy.ts";
import type { OutlinedScope } from "./outline.ts";
import type { Limits } from "./usage.ts";

/**
 * Describes what a program could do by its files, worker by worker, in a form that two states of the program can be compared
 * in. Flags and variables of the user are not part of it. Roots and files are relative to the program's folder where they lie in it.
 */
export interface Reach {
  /** Files that run as code, with all rights of the user. */
  readonly code: readonly string[];
  /** Packages that this code loads: `dep 1.2.0 (node_modules/dep)`. */
  readonly packages: readonly string[];
  /** Variables of the environment that the configuration takes. */
  readonly variables: readonly string[];
  /** By id; code that starts runs as `entry tools.ts:main`. */
  readonly workers: Readonly<Record<string, WorkerReach>>;
  /** Addresses of models that the manifest names: `https://models.example.com (the provider own)`. */
  readonly addresses: readonly string[];
  /** The mode and the rules of the manifest, which ask or block: without one of them it can do more. */
  readonly restrictions: readonly string[];
  /** Limits of a run, from the manifest. */
  readonly limits: Limits;
}

export interface WorkerReach {
  readonly models: readonly string[];
  readonly scopes: readonly OutlinedScope[];
  /** References under `toolsets`, also where their tools are not known. */
  readonly references: readonly string[];
  /** `reference/tool` to what happens to its calls. */
  readonly tools: Readonly<Record<string, Freedom>>;
  /** Its commands may use the network. */
  readonly network: boolean;
  /** Texts for what a toolset's configuration lets through: `shell: git log, without a question`. */
  readonly rules: readonly string[];
  readonly limits: Limits;
  /** The attachments that callers may pass to it. */
  readonly attachments: AttachmentPolicy;
  /** No run begins where its commands cannot be isolated. */
  readonly isolationRequired: boolean;
}

/** The outcome of calls of a tool. `pre-approved`: like `depends`, but calls without a rule ask no question. */
export type Freedom = "blocked" | "asks" | "depends" | "pre-approved" | "allowed";
