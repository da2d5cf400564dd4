import type { ScopeErrorType } from "../../protocol/tool.ts";
import { errorCode } from "../files/system-error.ts";
import { type ScopeDeclaration, ScopeError } from "./scopes.ts";

/** Names of scopes for messages. All messages here are for models: they name virtual paths, never host paths. */
export interface Allowed {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

export function pathOutsideScope(message: string, allowed: Allowed): ScopeError {
  return new ScopeError("path_outside_scope", message, {
    hint: describeAllowed(allowed),
    details: { readable: allowed.readable, writable: allowed.writable },
  });
}

export function linkRefused(virtualPath: string, allowed: Allowed): ScopeError {
  return pathOutsideScope(`"${virtualPath}" is a link, or lies behind one; links are not followed.`, allowed);
}

export function pathNotWritable(virtualPath: string, scope: ScopeDeclaration, allowed: Allowed): ScopeError {
  return notWritable(`"${virtualPath}" cannot be written: ${describeScope(scope.name)} is read-only.`, allowed);
}

export function notWritable(message: string, { writable }: Allowed): ScopeError {
  const names = writable.map(describeScope).join(", ");
  const hint = names === "" ? "Nothing is writable here; give the content back in your answer instead." : `Writable: ${names}.`;
  return new ScopeError("path_not_writable", message, { hint, details: { writable } });
}

export function suffixNotAllowed(virtualPath: string, suffixes: readonly string[]): ScopeError {
  return new ScopeError("suffix_not_allowed", `"${virtualPath}" has a suffix that is not allowed there.`, {
    hint: suffixes.length > 0 ? `Allowed: ${suffixes.join(", ")}.` : "No suffix is allowed there.",
    details: { suffixes },
  });
}

export function fileTooLarge(virtualPath: string, limit: number): ScopeError {
  return new ScopeError("file_too_large", `"${virtualPath}" is larger than ${limit} bytes.`, {
    hint: `At most ${limit} bytes are allowed there.`,
    details: { max_file_bytes: limit },
  });
}

export function pathProtected(virtualPath: string): ScopeError {
  return new ScopeError("path_protected", `"${virtualPath}" is part of the running program and cannot be written.`, {
    hint: "Write to another path.",
  });
}

export function privateFolder(virtualPath: string): ScopeError {
  return new ScopeError("path_protected", `"${virtualPath}" holds the keys and secrets of llm-do, which no scope reaches.`);
}

export function privateRoot(name: string): ScopeError {
  const message = `The folder of the scope ${describeScope(name)} holds the keys and secrets of llm-do, which no scope reaches.`;
  const hint = "Give it another root where it is declared, or move the state folder with `LLM_DO_STATE_DIR`.";
  return new ScopeError("path_protected", message, { hint, details: { scope: name } });
}

export function notAFile(virtualPath: string, what: "a folder" | "not a regular file"): ScopeError {
  return new ScopeError("not_a_file", `"${virtualPath}" is ${what}.`, {
    hint: what === "a folder" ? "List it, or name a file in it." : "Pipes, sockets and devices cannot be used.",
  });
}

export function notADirectory(virtualPath: string): ScopeError {
  return new ScopeError("not_a_directory", `"${virtualPath}" is not a folder.`);
}

export function notFound(virtualPath: string, nearest: readonly string[]): ScopeError {
  return new ScopeError("not_found", `"${virtualPath}" does not exist.`, {
    hint: nearest.length > 0 ? `Nearest names: ${nearest.join(", ")}.` : "List the folder to see what is there.",
    details: { nearest },
  });
}

export function changedMeanwhile(virtualPath: string): ScopeError {
  return new ScopeError("changed", `"${virtualPath}" was changed by another program in the meantime; nothing was written.`, {
    hint: "Read it again and decide anew.",
  });
}

export function changedSincePinned(virtualPath: string): ScopeError {
  return new ScopeError("changed", `"${virtualPath}" of a skill changed since it was trusted.`, {
    hint: "Start the program again: it asks for trust again.",
  });
}

export function replacedRoot(virtualPath: string): ScopeError {
  return new ScopeError("changed", `The folder of "${virtualPath}" is another one than when the run began, or is gone.`);
}

/** Translates a system error to a message without host paths. */
export function systemRefused(virtualPath: string, error: unknown): ScopeError {
  const code = errorCode(error);
  const [type, why] = reasons[code] ?? ["io_error", `failed${code === "" ? "" : ` (${code})`}`];
  return new ScopeError(type, `"${virtualPath}": ${why}.`, { details: code === "" ? {} : { code }, cause: error });
}

const reasons: Readonly<Record<string, readonly [ScopeErrorType, string]>> = {
  EACCES: ["io_error", "the system does not permit it"],
  EPERM: ["io_error", "the system does not permit it"],
  EROFS: ["io_error", "the disk is read-only"],
  ENOSPC: ["io_error", "the disk is full"],
  EDQUOT: ["io_error", "the disk quota is used up"],
  EFBIG: ["io_error", "the file would be too large for this disk"],
  EMFILE: ["io_error", "too many files are open; try again"],
  ENFILE: ["io_error", "too many files are open; try again"],
  ENAMETOOLONG: ["invalid_path", "the name is too long"],
  EILSEQ: ["invalid_path", "the disk cannot hold this name"],
  EINVAL: ["invalid_path", "the disk cannot hold this name"],
  ELOCKED: ["changed", "another process is writing it"],
  ESTALE: ["changed", "a folder on the way was replaced in the meantime"],
};

/** A path outside of all scopes may have been one to read or to write. */
function describeAllowed({ readable, writable }: Allowed): string {
  if (readable.length === 0) return "This worker has no files.";
  const list = (names: readonly string[]) => names.map(describeScope).join(", ") || "nothing";
  return `Readable: ${list(readable)}. Writable: ${list(writable)}.`;
}

/** Returns the beginning of a path in a scope, or a description of the default scope. */
export function describeScope(name: string): string {
  return name === "." ? "the program's folder (paths such as notes/a.md)" : `${name}/`;
}
