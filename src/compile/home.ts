import { basename, dirname, join, relative } from "node:path";
import type { Host } from "../host/host.ts";
import { programSuffix } from "../protocol/program-file.ts";
import { isWithin } from "../util/within.ts";

/** A folder that names and relative paths are confined to: the program's, or that of an npm package. */
export interface Home {
  /** Absolute. */
  readonly folder: string;
  /** Before the ids of its workers: nothing for the program, `@acme/pack:` for a package. */
  readonly prefix: string;
  /** Its name, where it is an npm package. */
  readonly package?: string;
  readonly names: Names;
}

/** The home of a file that a name means. A file that the user listed and that lies elsewhere has its own folder for one. */
export function homeOf(path: string, home: Home): Home {
  if (isWithin(path, home.folder)) return home;
  const folder = dirname(path);
  return { ...home, folder, prefix: `${relative(home.folder, folder).replaceAll("\\", "/")}/` };
}

/** The meanings of bare names. Folders are listed only where a name is not found. */
export interface Names {
  /** The files that a worker of this name could be: one, unless the program is ambiguous. */
  workerPaths(name: string): Promise<readonly string[]>;
  /** The names of all workers, for suggestions and for code that may call any of them. Sorted. */
  workerNames(): Promise<readonly string[]>;
  /** The code whose exports are names; with the program of `name`, where there is one. */
  codeFiles(name?: string): Promise<readonly string[]>;
}

/** The modules of a folder whose exports are names, where they are there. */
export const codeFileNames: readonly string[] = ["tools.ts", "tools.js", "tools.mjs", "tools/index.ts"];

const isPlainName = /^[A-Za-z][A-Za-z0-9_-]*$/;

/**
 * The names of a folder: workers beside the manifest or in `workers/`, those made in a run where `generated` says where they
 * are, and the exports of its `tools.ts`.
 */
export function folderNames(host: Host, folder: string, generated?: string): Names {
  return {
    workerPaths: async (name) => {
      if (!isPlainName.test(name)) return [];
      return filesAmong(host, [
        join(folder, `${name}.worker`),
        join(folder, "workers", `${name}.worker`),
        join(folder, "workers", name, "worker.worker"),
        ...(generated === undefined ? [] : [join(generated, name, "worker.worker")]),
      ]);
    },
    workerNames: () => findWorkerNames(host, folder, generated),
    codeFiles: (name) => {
      const own = name !== undefined && isPlainName.test(name) ? [name + programSuffix] : [];
      return filesAmong(
        host,
        [...codeFileNames, ...own].map((file) => join(folder, file)),
      );
    },
  };
}

/** The names of files that were listed one by one, and of no others. */
export function listedNames(files: readonly string[]): Names {
  const workers = files.filter((path) => path.endsWith(".worker"));
  const nameOf = (path: string) => workerName(path, "");
  return {
    workerPaths: async (name) => workers.filter((path) => nameOf(path) === name),
    workerNames: async () => [...new Set(workers.map(nameOf))].sort(),
    codeFiles: async () => files.filter(isCodePath),
  };
}

export function isCodePath(path: string): boolean {
  return /\.[cm]?[jt]s$/.test(path);
}

/** Its path inside the program or package, without the suffix: the same on every machine. */
export function workerId({ folder, prefix }: Home, path: string): string {
  const inside = relative(folder, path).replaceAll("\\", "/");
  return prefix + inside.replace(/\.worker$/, "");
}

/** `pitch_evaluator` for `pitch_evaluator.worker`, and for `pitch_evaluator/worker.worker`. */
export function workerName(path: string, home: string): string {
  const stem = basename(path, ".worker");
  return stem === "worker" && dirname(path) !== home ? basename(dirname(path)) : stem;
}

/** The candidates that are files, in their order. */
export async function filesAmong({ files }: Host, candidates: readonly string[]): Promise<string[]> {
  const kinds = await Promise.all(candidates.map((path) => files.kind(path)));
  return candidates.filter((_, index) => kinds[index] === "file");
}

async function findWorkerNames(host: Host, folder: string, generated: string | undefined): Promise<string[]> {
  const below = join(folder, "workers");
  const [top, inside, made] = await Promise.all([
    namesIn(host, folder),
    namesIn(host, below),
    generated === undefined ? [] : namesIn(host, generated),
  ]);
  const files = [...top, ...inside].filter((name) => name.endsWith(".worker")).map((name) => name.slice(0, -".worker".length));
  const isFolder = (name: string): boolean => !name.includes(".");
  const nested = await filesAmong(host, [
    ...inside.filter(isFolder).map((name) => join(below, name, "worker.worker")),
    ...made.filter(isFolder).map((name) => join(generated ?? "", name, "worker.worker")),
  ]);
  return [...new Set([...files, ...nested.map((path) => workerName(path, folder))])].sort();
}

/** Suggestions are not worth an error: a folder that cannot be listed has no names. */
async function namesIn({ files }: Host, folder: string): Promise<readonly string[]> {
  return files.names(folder).catch(() => []);
}
