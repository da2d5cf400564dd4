import type { JsonValue } from "../../protocol/json.ts";
import type { ScopeErrorType } from "../../protocol/tool.ts";
import type { LineMatch } from "./line-search.ts";

/*
 * Terms of this room
 *
 *   scope         a named directory with rights, as declared; scopes nest, and the deepest one decides
 *   root          the open directory of a scope; confinement begins there
 *   virtual path  `scope/rest`, as models and users see a path; the only form in which tools name files
 *   host path     an absolute path of this machine; it never reaches a model
 *   components    the names of a path below its scope's root
 *   protected     a name that steers a program or the machine: it asks, or is blocked, whatever a scope allows
 *   wall          the isolation of a command by the kernel (bubblewrap, seatbelt): a view built from mounts
 *   mount         one piece of that view: a read-only or writable path, a link, an empty folder, or something hidden
 *   handle        an open file or directory for a child process; it stays the same when its path is changed
 *   lock          the right to replace one file, among processes of llm-do
 */

/** A named directory that a call may touch, as the author of a worker or the manifest declared it. */
export interface ScopeDeclaration {
  /** `.` for the default scope, otherwise the name that virtual paths begin with. */
  readonly name: string;
  /** Absolute host path. */
  readonly root: string;
  /**
   * The real path of `root` when the program was compiled and its reach was judged. A root that leads elsewhere is rejected.
   * Absent: it may lead anywhere.
   */
  readonly realRoot?: string;
  /** Present for a folder of the program itself: its path in the program. Answers are bound to it, so that they hold for a copy elsewhere. */
  readonly inProgram?: string;
  readonly mode: "ro" | "rw";
  /** Lower-case, with the dot. Absent: any. */
  readonly suffixes?: readonly string[];
  readonly maxFileBytes?: number;
  /** As the author wrote it. Default: writes ask, reads do not. */
  readonly writeApproval?: boolean;
  readonly readApproval?: boolean;
  /**
   * SHA-256 of each file, by its path below the root. Files that are not in it, or have another content, are refused as `changed`, but for
   * names that ask before they are read. Absent: files may change.
   */
  readonly pinned?: Readonly<Record<string, string>>;
  /** The user chose the root for this run with `--scope`; no file of the program did. */
  readonly isChosen?: boolean;
}

/** Returns true if no folder is declared that may change: commands run in one of their own then. */
export function isPinnedAlone(declarations: readonly ScopeDeclaration[]): boolean {
  return declarations.every(({ pinned }) => pinned !== undefined);
}

/** A virtual path, read without opening anything. */
export interface ResolvedPath {
  /** The scope that the path names. A nested scope can still decide its rights, see `FileFacts.scope`. */
  readonly scope: ScopeDeclaration;
  /** Components below the scope's root; empty for the root itself. */
  readonly components: readonly string[];
  /** The path as models and people see it: `decks/a.pdf`, or `notes/a.md` in the default scope. */
  readonly virtualPath: string;
}

/** Facts of an opened file or directory. `identity` changes when another file takes its place. */
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

export interface AppendedFile {
  readonly facts: FileFacts;
  /** There was no file before. */
  readonly created: boolean;
}

/**
 * Protection of a path that steers a program or a machine. `program`: part of the running program, never written through a
 * scope. `ask-…`: the gate must ask, whatever else would allow it.
 */
export type Protection = "program" | "ask-read-and-write" | "ask-write";

/** A path that rights and suffix allow to be read or written, and the file that is there. */
export interface InspectedPath {
  /** In the deepest scope's terms: two paths to one file are one here. */
  readonly virtualPath: string;
  /** The deepest scope: its rights hold. */
  readonly scope: ScopeDeclaration;
  /** `undefined` if there is no file yet (to write alone). */
  readonly facts: FileFacts | undefined;
  readonly protection: Protection | undefined;
}

export interface WalkOptions {
  /** `*`, `?`, `[a-z]`, `{a,b}` and `**`, matched below the directory. A leading dot is matched by a dot alone. */
  readonly pattern: string;
  readonly signal?: AbortSignal;
  /** Names of the scopes to stay in; default all. */
  readonly scopes?: readonly string[];
}

export interface ListOptions extends WalkOptions {
  readonly maxEntries: number;
}

export interface SearchOptions extends WalkOptions {
  /** JavaScript's syntax. */
  readonly regex: string;
  readonly maxMatches: number;
  /** A larger file is skipped. */
  readonly maxBytesOfFile: number;
  /** For the whole search. */
  readonly milliseconds: number;
}

export interface FoundLines extends Omit<ListedFiles, "paths"> {
  /** In the order of the walk: by path, and by line. */
  readonly matches: readonly (LineMatch & { readonly virtualPath: string })[];
  /** How many files are gone, too large or not text. */
  readonly skipped: number;
}

export interface ListedFiles {
  /** Virtual paths, sorted by code unit. */
  readonly paths: readonly string[];
  /** True if there may be more: `maxEntries` or `maxMatches` cut the list, or the walk ended early. */
  readonly truncated: boolean;
  /** The first of the folders that were not looked into, because they lie too many levels below the directory. */
  readonly tooDeep: readonly string[];
  /** How many names were left out because no virtual path can hold them: with control characters, backslashes or broken Unicode. */
  readonly unnameable: number;
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
  /**
   * Looks before anything is done: rejects as `read` or `write` would (a size limit apart), but for `path_protected`,
   * which is in `protection`. A missing file can be written.
   */
  inspect(virtualPath: string, access: "read" | "write"): Promise<InspectedPath>;
  /** By name alone, in any case and whether it exists or not. Pure. */
  protection(path: ResolvedPath): Protection | undefined;
  /**
   * The target of a path for `Toolset.targets`: the same for each spelling and from each worker, and below the target of the folder
   * that it lies in. Pure; throws as `resolve`. Not for people or models: it can hold a host path.
   */
  target(virtualPath: string): string;
  /** The scopes whose files `list` shows for this path: its own, and those nested in it. Pure; throws as `resolve`. */
  covered(virtualPath: string): readonly ScopeDeclaration[];
  /**
   * A regular file within its scope's suffixes and size limit. With `maxBytes`: that much from the beginning. Without: the
   * whole of it, `file_too_large` beyond `maxReadBytes`.
   */
  read(virtualPath: string, options?: { readonly maxBytes?: number }): Promise<ReadFile>;
  /**
   * Writes the whole file: a new random name in the same directory, synced, then renamed over the target. Makes missing
   * parents. Keeps the mode of a file that it replaces. `expect` is the identity that the caller judged (`undefined`: no
   * file); if the target is another one by now, it rejects with `changed` and writes nothing. Of
   * several writers, in this process or others, that expect the same, one succeeds.
   */
  write(virtualPath: string, bytes: Uint8Array, options: { readonly expect: string | undefined }): Promise<FileFacts>;
  /** Writes the file anew with the bytes at its end, as `write` does. Of several writers at once each succeeds. */
  append(virtualPath: string, bytes: Uint8Array): Promise<AppendedFile>;
  /**
   * Regular files below a directory (or below all scopes for `.` where there is no default scope) that match the glob and
   * that `read` would take. What asks before it is read (`.git`, `.env`, …) is left out unless the directory itself is or
   * lies in it. Paths begin as `virtualPath` does, so that they sort and read as one listing.
   */
  list(virtualPath: string, options: ListOptions): Promise<ListedFiles>;
  /** Lines of the text files that `list` would give, or of one file. Rejects with a `LineSearchTimeout` when the time is used up. */
  search(virtualPath: string, options: SearchOptions): Promise<FoundLines>;
  /**
   * The names of all that lies in a directory, in no order: also of what cannot be read, and of links. Undefined if there are more
   * than `most`.
   */
  names(virtualPath: string, most: number): Promise<readonly string[] | undefined>;
  /** Return whether rights and suffix allow it; a missing file can be writable. Never throw. */
  canRead(virtualPath: string): Promise<boolean>;
  canWrite(virtualPath: string): Promise<boolean>;
  /**
   * The scopes that commands run in: these, or where none is declared that is not pinned, these beside one of its own (`.`, `rw`) in an
   * empty folder, which no other member reaches. It is made at the first call, and `close` removes it with all that is in it.
   */
  forCommands(): Promise<Scopes>;
  close(): Promise<void>;
}

/** The default limit of `read`, in bytes. */
export const maxReadBytes = 100_000_000;

/** A refusal in terms of scopes. It names what is allowed, never a host path: tools return it to the model unchanged. */
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
