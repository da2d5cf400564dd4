import type { JsonValue } from "../protocol/json.ts";
import type { ScopeErrorType } from "../protocol/tool.ts";

/** A named directory that a call may touch, as the author of a worker or the manifest declared it. */
export interface ScopeDeclaration {
  /** `.` for the default scope, otherwise the name that virtual paths begin with. */
  readonly name: string;
  /** Absolute host path. */
  readonly root: string;
  readonly mode: "ro" | "rw";
  /** Lower-case, with the dot. Absent: any. */
  readonly suffixes?: readonly string[];
  readonly maxFileBytes?: number;
  /** What the author wrote; absent where the default (writes ask, reads do not) applies. */
  readonly writeApproval?: boolean;
  readonly readApproval?: boolean;
}

/** What a tool can learn about a path before anything is opened. */
export interface ResolvedPath {
  /** The scope that the path names. A nested scope can still decide its rights, see `FileFacts.scope`. */
  readonly scope: ScopeDeclaration;
  /** Components below the scope's root; empty for the root itself. */
  readonly components: readonly string[];
  /** The path as models and people see it: `decks/a.pdf`, or `notes/a.md` in the default scope. */
  readonly virtualPath: string;
}

/** What is known of an opened file or directory. `identity` changes when another file takes its place. */
export interface FileFacts {
  readonly virtualPath: string;
  /** The deepest scope that the target lies in: its rights hold. */
  readonly scope: ScopeDeclaration;
  readonly type: "file" | "directory";
  readonly bytes: number;
  readonly mode: number;
  readonly modifiedMilliseconds: number;
  readonly identity: string;
}

export interface ReadFile {
  readonly facts: FileFacts;
  readonly bytes: Uint8Array;
}

export interface ListedFiles {
  /** Virtual paths, sorted by code unit. */
  readonly paths: readonly string[];
  /** True where `maxEntries` cut the list. */
  readonly truncated: boolean;
}

/**
 * The only way from a virtual path to a file: file tools, attachments, shell arguments and working directories all go
 * through it. Nothing is followed out of a scope; every check is made on what was opened. Failures are `ScopeError`s.
 */
export interface Scopes {
  readonly declarations: readonly ScopeDeclaration[];
  /** Names of scopes that can be read / written. */
  readable(): readonly string[];
  writable(): readonly string[];
  /** Syntax and scope alone; touches no disk. Throws `path_outside_scope` or `invalid_path`. */
  resolve(virtualPath: string): ResolvedPath;
  /** Opens, checks and closes. Rejects with `not_found` (nearest names in `details`), `not_a_file`, … */
  facts(virtualPath: string): Promise<FileFacts>;
  /** A regular file within its scope's suffixes and size limit, at most `maxBytes` of it from `offset`, both in bytes. */
  read(virtualPath: string, options?: { readonly maxBytes?: number }): Promise<ReadFile>;
  /**
   * Writes the whole file: a new random name in the same directory, synced, then renamed over the target. Makes missing
   * parents. Keeps the mode of a file that it replaces. `expect` is the identity that the caller judged (`undefined`: no
   * file); if the target is another one by now, it rejects with `io_error` and writes nothing.
   */
  write(virtualPath: string, bytes: Uint8Array, options: { readonly expect: string | undefined }): Promise<FileFacts>;
  /** Files below a directory (or below all scopes for `.` where there is no default scope) that match the glob. */
  list(
    virtualPath: string,
    options: { readonly pattern: string; readonly maxEntries: number; readonly signal?: AbortSignal },
  ): Promise<ListedFiles>;
  /** Whether rights and suffix allow it; a missing file can be writable. Never throws. */
  canRead(virtualPath: string): Promise<boolean>;
  canWrite(virtualPath: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A refusal in terms of scopes: names what is allowed, never a host path. Tools hand it to the model as it is. */
export class ScopeError extends Error {
  readonly type: ScopeErrorType;
  readonly hint: string | undefined;
  readonly details: { readonly [key: string]: JsonValue };

  constructor(
    type: ScopeErrorType,
    message: string,
    more: { hint?: string; details?: { readonly [key: string]: JsonValue }; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "ScopeError";
    this.type = type;
    this.hint = more.hint;
    this.details = more.details ?? {};
  }
}
