/**
 * What a program could do by what its files say, worker by worker, in a form that two states of the program can be compared
 * in. What whoever starts a run says by a flag or a variable is not in it. Roots and files are relative to the program's
 * folder where they lie in it.
 */
export interface Reach {
  /** Files that run as code, with all rights of the user. */
  readonly code: readonly string[];
  /** By id; code that starts runs as `entry tools.ts:main`. */
  readonly workers: Readonly<Record<string, WorkerReach>>;
  /** Where the manifest has models reached: `https://models.example.com (the provider own)`. */
  readonly addresses: readonly string[];
  /** Rules of the manifest, which ask or block: without one of them it can do more. */
  readonly restrictions: readonly string[];
}

export interface WorkerReach {
  readonly models: readonly string[];
  readonly scopes: readonly ReachedScope[];
  /** What is under `toolsets`, also where its tools are not known. */
  readonly references: readonly string[];
  /** `reference/tool` to what happens to its calls. */
  readonly tools: Readonly<Record<string, Freedom>>;
  /** Its commands may use the network. */
  readonly network: boolean;
  /** What a toolset's configuration lets through: `shell: git log, without a question`. */
  readonly rules: readonly string[];
}

/** What happens to calls of a tool. `pre-approved`: as `depends`, but what no rule says asks no question. */
export type Freedom = "blocked" | "asks" | "depends" | "pre-approved" | "allowed";

export interface ReachedScope {
  readonly root: string;
  readonly mode: "ro" | "rw";
  /** Absent: any. */
  readonly suffixes?: readonly string[];
  readonly maxFileBytes?: number;
  readonly writeApproval: boolean;
  readonly readApproval: boolean;
}
