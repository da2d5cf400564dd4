import type { ResolvedPath, Scopes } from "./scopes/scopes.ts";

/** Programs of the machine, run for a call: in their own process group and, where there is one, behind the kernel wall. */
export interface Commands {
  /** Returns whether and how commands are isolated here. Tried once. */
  isolation(): Promise<Isolation>;
  /** Returns whether commands can have `scratch` here. Tried once. Default: they cannot. */
  layers?(): Promise<boolean>;
  /**
   * Finds a program by its bare name on the fixed PATH. Returns an absolute host path, or undefined. With `scopes`: on the PATH of
   * a command that may use them, which has no folder that such a command could write to.
   */
  which(name: string, scopes?: Scopes): Promise<string | undefined>;
  /**
   * Runs one command to its end. Resolves however it ended, a command that cannot be started included (126, 127). Rejects
   * with the signal's reason; with a `ScopeError` where there is no such working directory or, behind a wall, where a root of the
   * scopes is not in its place; with `NotIsolated` where a wall is required or there is one, but it could not be put up: nothing has
   * run then; with a `TypeError` for a request that is malformed (NUL, no program). Nothing that the command started is left when it
   * settles.
   */
  run(request: CommandRequest): Promise<CommandResult>;
}

/** Nothing was run, because it could not be isolated. The message is for users: it can hold host paths. */
export class NotIsolated extends Error {
  constructor(why: string) {
    super(why);
    this.name = "NotIsolated";
  }
}

export type Isolation =
  | { readonly type: "bubblewrap" | "seatbelt" }
  /** `why`, for users: what is missing, and how to get it. */
  | { readonly type: "none"; readonly why: string };

export interface CommandRequest {
  /** One program with its arguments, run without a shell; or a script for `bash --noprofile --norc`. */
  readonly command:
    | { readonly type: "argv"; readonly argv: readonly string[] }
    | { readonly type: "bash"; readonly script: string };
  /**
   * The scopes that the command may use: `rw` roots are writable, the rest of its view is not. Suffixes and size limits of scopes
   * cannot be enforced on a command.
   */
  readonly scopes: Scopes;
  /** Default: it writes in all `rw` scopes, and reads all scopes. */
  readonly rights?: CommandRights;
  /** A folder in one of the scopes. */
  readonly cwd: ResolvedPath;
  readonly network: boolean;
  /**
   * Protected names that this command may use like any other, because they were approved: `.git`, `package.json`. In any
   * case and at any depth. Files of the running program stay protected. `.git` alone opens what git writes for commits
   * and branches, in submodules too: beside it, `.git/config` opens its configuration and all else (and a `.git` that is a file),
   * `.git/hooks` its hooks.
   */
  readonly unprotected?: readonly string[];
  /**
   * True: behind a wall, `.git` and what holds keys and tokens by its name (`.npmrc`, `.ssh`) are hidden in all scopes, for a program
   * that needs none of them. A scope's root that has such a name is shown. Default false.
   */
  readonly hidesCredentials?: boolean;
  /** True: git runs the hooks of its repository, because they were approved. */
  readonly hooks?: boolean;
  /** Variables beside those of the allow-list. Ones that change what programs are or load (`PATH`, `LD_…`) are refused. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly timeoutMilliseconds: number;
  /** For each stream: a fifth of it is the beginning, the rest the end. Below 1000 the end alone is kept. */
  readonly maxOutputBytes: number;
  /** True: fails if there is no isolation. */
  readonly isolationRequired: boolean;
  /** True: runs without isolation where there is one, because the user trusts it. Default false. */
  readonly unisolated?: boolean;
  /**
   * Connects to the command's stdin and stdout while it runs. Called when it begins, with a function that writes to stdin; returns the
   * listener of stdout, of which nothing is collected then. Must not throw. Default: stdin is empty.
   */
  readonly converse?: Conversation;
  /** Receives what an aborted command came to, before the rejection with the signal's reason. */
  readonly onInterrupted?: (result: CommandResult) => void;
  readonly signal: AbortSignal;
}

/** The rights of a command beyond looking at scopes that need no approval. Without any of them it looks, and changes nothing. */
export interface CommandRights {
  /**
   * Folders of `rw` scopes that it writes in, made where they are missing. Scopes nested in one are folders of their own. All else is
   * read-only.
   */
  readonly writes: readonly ResolvedPath[];
  /**
   * Names of scopes with `readApproval` or `suffixes` that it sees: a command would read all of them. `.git`: what repositories keep
   * of files that ask before they are read.
   */
  readonly reads: readonly string[];
  /** True: it writes in all scopes that it sees, and nothing of it remains. Then `writes` is empty. Default false. */
  readonly scratch?: boolean;
}

export type Conversation = (write: (text: string) => void) => (chunk: Uint8Array) => void;

export interface GitLeftOut {
  /** Settings that start programs: `filter.lfs.clean`. */
  readonly leftOut: readonly string[];
  /** Git directories of which it saw no objects, because they hold files that ask before they are read: `vault/.git`. */
  readonly withoutObjects: readonly string[];
}

export interface CommandResult {
  /** As a shell says it: 126 not executable, 127 not found, 128 + n killed by signal n; -1 out of time. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes that were left out of each stream, between its beginning and its end. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  readonly timedOut: boolean;
  readonly isolated: boolean;
  /**
   * Protected names that appeared in a writable scope and were moved aside, as virtual paths of where they appeared. First those of
   * commands that a killed process had left.
   */
  readonly movedAside: readonly string[];
  /** Protected links, and links that such ones lead through, that the command removed or replaced. They are there again. Absent: none. */
  readonly putBack?: readonly string[] | undefined;
  /** True: not all such names and links could be set right. The next command tries again. Default false. */
  readonly isUnfinished?: boolean | undefined;
  /** True: if this process had been killed, no later one would have done it: the state folder cannot be written. Default false. */
  readonly isUnnoted?: boolean | undefined;
  /** Virtual paths of the first folders below the deepest level, which are hidden behind a wall. */
  readonly tooDeep: readonly string[];
  /** Virtual paths of the first folders that llm-do may not list or enter, which are hidden behind a wall. Absent: none. */
  readonly locked?: readonly string[] | undefined;
  /** Virtual paths of the first files that it wrote and that are larger than their scopes' `maxFileBytes`. Absent: none. */
  readonly tooLarge?: readonly string[] | undefined;
  /** Virtual paths that a command with `scratch` wrote, as far as they were counted. */
  readonly thrownAway?: readonly string[] | undefined;
  /** What the command did not see of git's files. Absent: it saw them as they are. */
  readonly git?: GitLeftOut | undefined;
}
