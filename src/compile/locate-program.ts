import { basename, dirname, join, relative, resolve } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";

/** Where a program is, and what starts it. */
export interface ProgramPlace {
  /** Absolute path of the program's folder. */
  readonly root: string;
  readonly entry:
    | { readonly kind: "worker"; readonly path: string }
    | { readonly kind: "code"; readonly path: string; readonly name: string };
}

export interface LocateOptions {
  readonly host: Host;
  /** A folder or a `.worker` file. */
  readonly target: string;
  /** `name` of a worker, or `tools.ts:main`. */
  readonly entry?: string;
}

export type Located = { readonly place: ProgramPlace } | { readonly diagnostic: Diagnostic };

export async function locateProgram({ host, target, entry }: LocateOptions): Promise<Located> {
  const path = resolve(host.workingDirectory, target);
  const kind = await host.files.kind(path);
  if (kind === "file" && path.endsWith(".worker")) {
    const root = rootOf(path);
    return entry === undefined ? { place: { root, entry: { kind: "worker", path } } } : locateEntry(host, root, entry);
  }
  if (kind === "directory") return locateEntry(host, path, entry ?? "main");
  const message = kind === undefined ? `there is no \`${target}\`` : `\`${target}\` is neither a folder nor a \`.worker\` file`;
  return {
    diagnostic: diagnose("target-not-found", {
      message,
      notes: [{ message: "pass a folder with a `main.worker`, or a `.worker` file" }],
    }),
  };
}

/** The folder of the program that a worker file belongs to: helpers lie in `workers/` below it. */
function rootOf(path: string): string {
  const folder = dirname(path);
  if (basename(folder) === "workers") return dirname(folder);
  const isFolderForm = basename(path) === "worker.worker" && basename(dirname(folder)) === "workers";
  return isFolderForm ? dirname(dirname(folder)) : folder;
}

async function locateEntry(host: Host, root: string, entry: string): Promise<Located> {
  const colon = entry.lastIndexOf(":");
  if (colon > 0) {
    const path = resolve(root, entry.slice(0, colon));
    if ((await host.files.kind(path)) === "file")
      return { place: { root, entry: { kind: "code", path, name: entry.slice(colon + 1) } } };
    return {
      diagnostic: diagnose("entry-not-found", {
        message: `\`--entry ${entry}\`: there is no file \`${entry.slice(0, colon)}\` in the program`,
      }),
    };
  }
  const [path, ...others] = await workerPaths(host, root, entry);
  if (path !== undefined && others.length === 0) return { place: { root, entry: { kind: "worker", path } } };
  const names = others.map((other) => `\`${relative(root, other)}\``);
  const message =
    path === undefined
      ? missingEntry(host, root, entry)
      : `\`${entry}\` could be \`${relative(root, path)}\` or ${names.join(" or ")}`;
  return { diagnostic: diagnose("entry-not-found", { message }) };
}

function missingEntry(host: Host, root: string, entry: string): string {
  const folder = relative(host.workingDirectory, root) || ".";
  return entry === "main"
    ? `\`${folder}\` holds no \`main.worker\`, so it is not a program`
    : `there is no worker \`${entry}\` in \`${folder}\``;
}

/** The files that a worker of this name could be: one, unless the program is ambiguous. */
export async function workerPaths(host: Host, root: string, name: string): Promise<string[]> {
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) return [];
  const candidates = [
    join(root, `${name}.worker`),
    join(root, "workers", `${name}.worker`),
    join(root, "workers", name, "worker.worker"),
  ];
  const kinds = await Promise.all(candidates.map((path) => host.files.kind(path)));
  return candidates.filter((_, index) => kinds[index] === "file");
}

/** The names of all workers of a program, for suggestions and for code that may call any of them. Sorted. */
export async function workerNames(host: Host, root: string): Promise<string[]> {
  const [top, below] = await Promise.all([host.files.names(root), host.files.names(join(root, "workers"))]);
  const files = [...top, ...below].filter((name) => name.endsWith(".worker")).map((name) => name.slice(0, -".worker".length));
  const folders = await Promise.all(
    below.map(async (name) => ((await host.files.kind(join(root, "workers", name, "worker.worker"))) === "file" ? [name] : [])),
  );
  return [...new Set([...files, ...folders.flat()])].sort();
}
