import type { Commands } from "./commands.ts";
import type { OwnFolder, OwnFolderOptions } from "./own-files/own-folder.ts";
import type { ScopeDeclaration, Scopes } from "./scopes/scopes.ts";

/** The operating system, as far as llm-do uses it. `node-host.ts` implements it, and `testing/memory-host.ts` for tests. */
export interface Host {
  /** Environment variables as they were at the start; an empty value counts as unset, see `variable`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** The folder of credentials, trust, and journals of read-only programs. Made when first written to. */
  readonly stateDirectory: string;
  /** The user's configuration, `config.yaml`, existing or not. */
  readonly configFile: string;
  readonly files: HostFiles;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** Unique, sortable by time, safe in a file name. */
  createId(): string;
  /** 32 random bytes in hex, which nobody can guess. */
  createKey(): string;
  readonly fetch: typeof globalThis.fetch;
  /**
   * Runs a module's code: only after trust. `llm-do` and `zod` resolve to the running copy. `texts`: of files as they were read, by
   * real path; rejects if one of them that is loaded holds another text now, before it runs.
   */
  importModule(path: string, texts?: ReadonlyMap<string, string>): Promise<Record<string, unknown>>;
  /** Opens declared scopes for a run. Makes missing `rw` roots. Rejects with a `ScopeError` if a root is missing. */
  openScopes(declarations: readonly ScopeDeclaration[], options?: OpenScopesOptions): Promise<Scopes>;
  readonly commands: Commands;
  readonly processes: Processes;
}

/** Identifies processes, so that one of them alone executes a run. */
export interface Processes {
  /** This process, in a text that no other process has on any machine. */
  readonly self: string;
  /** Returns whether the process with this text runs. Undefined: it belongs to another machine, or to another container. */
  isRunning(process: string): boolean | undefined;
}

/** A variable of the environment; an empty one counts as unset. */
export function variable(host: Pick<Host, "environment">, name: string): string | undefined {
  const value = host.environment[name];
  return value === "" ? undefined : value;
}

export interface OpenScopesOptions {
  /**
   * Absolute host paths of what is part of the running program, existing or not: readable, never writable through a scope, and
   * neither is what is below them.
   */
  readonly programFiles?: readonly string[];
  /** Absolute host path. Names that would become part of the program (`*.worker`, `tools.ts`, …) cannot be written below. */
  readonly programFolder?: string;
  /** Absolute host paths of the roots of all scopes of the program: no command replaces one, or a folder that it lies in, by a link. */
  readonly scopeRoots?: readonly string[];
  /** Absolute host paths of folders below which no file can be written that may be code, by its name. */
  readonly codeFolders?: readonly string[];
  /** Receives each file before it is replaced. Default: nothing does. */
  readonly beforeReplacing?: ReplacementListener;
  /** Scopes that are opened for one owner, such as a run, look once for the real paths of the program and of private folders. */
  readonly owner?: object;
  /**
   * True: where each declaration has a `realRoot`, no folder is looked at, made or refused before the first member that needs one, which
   * rejects with the refusal, as all later ones do. Default: scopes are opened at once.
   */
  readonly atFirstUse?: boolean;
  /** Missing writable roots are made (the default), or taken for empty folders that cannot be written. */
  readonly missingRoots?: "make" | "pretend";
}

export interface ReplacementListener {
  /** Larger files are not read. */
  readonly maxBytes: number;
  /** Called under the lock of the file, which is replaced when this resolves. Never rejects. */
  note(change: FileChange): Promise<void>;
}

/** A file that is about to be replaced through a scope. */
export interface FileChange {
  readonly virtualPath: string;
  /** Absolute host path of the scope's folder, without links. */
  readonly root: string;
  /** The path below `root`. */
  readonly components: readonly string[];
  /** Null for a new file; undefined for one that is larger than the listener reads. */
  readonly before: Uint8Array | null | undefined;
  readonly after: Uint8Array;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary point, never going back. */
  monotonic(): number;
  /** Resolves after the delay; rejects with the signal's reason when it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export interface ReadOptions {
  /** Rejects with `EFBIG` if the file holds more. Default `maxReadBytes`. */
  readonly maxBytes?: number;
  /**
   * Rejects with `EXDEV` if the file does not lie in this folder, links of both resolved, and with `EACCES` if it is one of
   * those in it that ask before they are read, such as `.env`.
   */
  readonly within?: string;
}

/** Plain file access for the product itself: program sources, journals, stores. Never handed to tools. */
export interface HostFiles {
  /**
   * Reads regular files only: a folder is `EISDIR`; a pipe, socket or device is `ENXIO` and is never opened for long. The
   * code of a failure is in `code`.
   */
  readText(path: string, options?: ReadOptions): Promise<string>;
  readBytes(path: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Reads at most `bytes` at each end of a file; the two overlap where it is short. Above `maxReadBytes` it fails for a larger file. */
  readEnds(path: string, options: { readonly bytes: number; readonly within?: string }): Promise<FileEnds>;
  /** `undefined` if there is nothing (or nothing readable). Follows links. */
  kind(path: string): Promise<"file" | "directory" | "other" | undefined>;
  /** Returns true if there is nothing for certain: a reading that fails takes longer. Never throws. Absent: not known. */
  isMissing?(path: string): boolean;
  /** Names in a directory, sorted; empty if there is none. */
  names(path: string): Promise<readonly string[]>;
  realPath(path: string): Promise<string>;
  /** Makes what is missing on the way, too. Links that are there are followed. */
  makeDirectory(path: string, mode?: number): Promise<void>;
  /** Makes folders below `root`, one in the other, and follows no link among them: `ELOOP` where one is. */
  makeOwnDirectory(root: string, names: readonly string[], mode?: number): Promise<void>;
  /**
   * Whole or not at all: a random name beside the target, synced, then renamed. Keeps the mode of what it replaces unless
   * `mode` says otherwise; a link stays one, and its target is written. The directory must be there.
   */
  writeAtomically(path: string, bytes: Uint8Array | string, mode?: number): Promise<void>;
  /** Runs a function while no other one, in this process or another, runs for the same file. The directory must be there. */
  alone<T>(path: string, fn: () => Promise<T>): Promise<T>;
  /** Opens a folder of llm-do itself; the caller closes it. Rejects with `EPERM` for one that others could change. */
  openOwn(path: string, options?: OwnFolderOptions): Promise<OwnFolder>;
  /** A file, a link or a whole directory; nothing there is fine. */
  remove(path: string): Promise<void>;
}

export interface FileEnds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** Size of the whole file. */
  readonly bytes: number;
}

export interface AppendFile {
  /** Appends at once, in the order of the calls. Throws what the system says (a full disk). */
  append(text: string): void;
  /** In bytes, with what other processes appended. Undefined if the file was removed or replaced. */
  size(): number | undefined;
  /** Resolves when everything appended so far is on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
