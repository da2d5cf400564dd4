import { basename, dirname, join, resolve } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import { didYouMean, quoteNames } from "../util/text/did-you-mean.ts";
import type { CompileOptions } from "./compile.ts";
import { folderNames, isCodePath } from "./home.ts";
import { noteOnOlderFile } from "./load-manifest.ts";

/** The location of a program. */
export interface LocatedProgram {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** The worker file that the target itself names. */
  readonly worker?: string;
  /** Absolute paths, where exactly these files make the program (and what they refer to). */
  readonly listed?: readonly string[];
}

export type Located<T> = { readonly place: T } | { readonly diagnostics: readonly Diagnostic[] };

export async function locateTarget(options: Pick<CompileOptions, "host" | "target" | "files">): Promise<Located<LocatedProgram>> {
  const { host, target = ".", files } = options;
  if (files) return locateFiles(host, files);
  const path = resolve(host.workingDirectory, target);
  const kind = await host.files.kind(path);
  if (kind === "directory") return { place: { root: path } };
  if (kind === "file" && path.endsWith(".worker")) return { place: { root: rootOf(path), worker: path } };
  if (kind === undefined && /^[A-Za-z][A-Za-z0-9_-]*$/.test(target)) return locateName(host, target);
  const older = noteOnOlderFile(basename(path));
  const note = older ?? "pass a folder with a `main.worker`, a `.worker` file, or the name of a worker";
  if (kind !== undefined) return refuse(`\`${target}\` is neither a folder nor a \`.worker\` file`, note);
  const siblings = await host.files.names(dirname(path)).catch(() => []);
  return refuse(`there is no \`${target}\``, didYouMean(basename(path), siblings) ?? note);
}

/** The folder of the program that a worker file belongs to: helpers lie in `workers/` below it, those made in a run below that. */
function rootOf(path: string): string {
  const folder = dirname(path);
  if (basename(folder) === "workers") return dirname(folder);
  if (basename(path) !== "worker.worker") return folder;
  const above = dirname(folder);
  const workers = basename(above) === "generated" ? dirname(above) : above;
  return basename(workers) === "workers" ? dirname(workers) : folder;
}

/** The nearest folder upwards that has it as a worker or as a program, to the root of the version control at most. */
async function locateName(host: Host, name: string): Promise<Located<LocatedProgram>> {
  const folders = await searchedFolders(host);
  for (const folder of folders) {
    const places: LocatedProgram[] = [];
    for (const worker of await folderNames(host, folder).workerPaths(name)) places.push({ root: folder, worker });
    const below = join(folder, name);
    if ((await host.files.kind(join(below, "main.worker"))) === "file") places.push({ root: below });
    const [only, ...others] = places;
    if (only && others.length === 0) return { place: only };
    const found = quoteNames(
      places.map(({ root, worker }) => worker ?? root),
      " or ",
    );
    if (only) return refuse(`\`${name}\` could be ${found}`, "pass the path of the one that you mean");
  }
  const known = (await Promise.all(folders.map((folder) => folderNames(host, folder).workerNames()))).flat();
  const [nearest = "", farthest = nearest] = [folders[0], folders.at(-1)];
  const where = nearest === farthest ? `in \`${nearest}\`` : `from \`${nearest}\` up to \`${farthest}\``;
  const isHere = basename(host.workingDirectory) === name;
  const note = isHere ? `the working directory is \`${name}\` itself: \`.\` names its program` : didYouMean(name, known);
  return refuse(`there is no file, folder or worker \`${name}\` ${where}`, note);
}

/** Without version control above it, the working directory alone: what lies further up may be anybody's. */
async function searchedFolders(host: Host): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = host.workingDirectory; ; folder = dirname(folder)) {
    folders.push(folder);
    if ((await host.files.kind(join(folder, ".git"))) !== undefined) return folders;
    if (dirname(folder) === folder) return folders.slice(0, 1);
  }
}

async function locateFiles(host: Host, files: readonly string[]): Promise<Located<LocatedProgram>> {
  const places = new Map(files.map((written) => [resolve(host.workingDirectory, written), written]));
  const listed = [...places.keys()];
  const diagnostics: Diagnostic[] = [];
  for (const [path, written] of places) {
    const isSource = path.endsWith(".worker") || isCodePath(path) || basename(path) === "llm-do.yaml";
    if ((await host.files.kind(path)) !== "file") diagnostics.push(refusal(`there is no file \`${written}\``));
    else if (!isSource) diagnostics.push(refusal(`\`${written}\` is neither a worker, nor code, nor a manifest`));
  }
  const first = listed.find((path) => path.endsWith(".worker")) ?? listed[0];
  if (first === undefined) diagnostics.push(refusal("no file is listed"));
  if (first === undefined || diagnostics.length > 0) return { diagnostics };
  return { place: { root: first.endsWith(".worker") ? rootOf(first) : dirname(first), listed } };
}

function refuse(message: string, note?: string): { diagnostics: Diagnostic[] } {
  return { diagnostics: [refusal(message, note)] };
}

function refusal(message: string, note?: string): Diagnostic {
  return diagnose("target-not-found", { message, note });
}
