import { basename, dirname, relative } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import { parseWorkerFile } from "../language/parse-worker-file.ts";
import type { ToolsetSyntax, WorkerFile } from "../language/worker-file.ts";
import { isTool } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import { sha256 } from "../util/sha256.ts";
import type { Compilation } from "./compilation.ts";
import { workerPaths } from "./locate-program.ts";
import { type ReferenceTarget, resolveReference } from "./resolve-reference.ts";

/** A worker's file with its references resolved, not yet checked against what they resolve to. */
export interface ResolvedWorker {
  /** The path inside the program, without the suffix, with `/`. */
  readonly id: string;
  /** What it is called by: the file's stem, or the folder's name. */
  readonly name: string;
  readonly path: string;
  readonly file: WorkerFile;
  readonly digest: string;
  readonly references: readonly ResolvedReference[];
}

export interface ResolvedReference {
  readonly syntax: ToolsetSyntax;
  readonly target: ReferenceTarget;
}

/** Reads the entry's file and every worker that is reachable from it. A file that does not parse is left out. */
export async function resolveWorkers(
  compilation: Compilation,
  entryPaths: readonly string[],
): Promise<Map<string, ResolvedWorker>> {
  const workers = new Map<string, ResolvedWorker>();
  const seen = new Set(entryPaths);
  let wave = [...entryPaths];
  while (wave.length > 0) {
    const resolved = await Promise.all(wave.map((path) => resolveWorker(compilation, path)));
    wave = [];
    for (const worker of resolved) {
      if (!worker) continue;
      workers.set(worker.path, worker);
      for (const path of await calledPaths(compilation, worker)) {
        if (seen.has(path)) continue;
        seen.add(path);
        wave.push(path);
      }
    }
  }
  return workers;
}

/** The workers that a worker, or the code of its tools, can call. */
async function calledPaths(compilation: Compilation, { references }: ResolvedWorker): Promise<string[]> {
  const paths: string[] = [];
  const names = new Set(references.flatMap(({ target }) => (target.kind === "toolset" ? target.calls : [])));
  const code = names.size > 0 ? await compilation.tools() : undefined;
  for (const name of names) {
    paths.push(...(await workerPaths(compilation.host, compilation.root, name)));
    const tool = code?.exports.get(name);
    if (isTool(tool)) for (const called of tool.calls ?? []) names.add(called);
  }
  for (const { target } of references) if (target.kind === "worker") paths.push(target.path);
  return paths;
}

async function resolveWorker(compilation: Compilation, path: string): Promise<ResolvedWorker | undefined> {
  const { host, root, diagnostics } = compilation;
  const name = relative(host.workingDirectory, path);
  const text = await readSource(compilation, { path, name });
  if (text === undefined) return undefined;
  const { file, diagnostics: found } = parseWorkerFile({ name, text });
  diagnostics.reportAll(found);
  if (!file) return undefined;
  const references = await Promise.all((file.toolsets?.value ?? []).map((syntax) => resolveSyntax(compilation, syntax)));
  const id = relative(root, path)
    .replaceAll("\\", "/")
    .replace(/\.worker$/, "");
  return {
    id,
    name: workerName(path),
    path,
    file,
    digest: sha256(text),
    references: references.filter((reference) => reference !== undefined),
  };
}

async function readSource(
  { host, diagnostics }: Compilation,
  { path, name }: { path: string; name: string },
): Promise<string | undefined> {
  try {
    return await host.files.readText(path);
  } catch (thrown) {
    diagnostics.report(diagnose("file-unreadable", { message: `\`${name}\` cannot be read: ${errorMessage(thrown)}` }));
    return undefined;
  }
}

/** `pitch_evaluator` for `pitch_evaluator.worker`, and for `pitch_evaluator/worker.worker`. */
export function workerName(path: string): string {
  const stem = basename(path, ".worker");
  return stem === "worker" && basename(dirname(dirname(path))) === "workers" ? basename(dirname(path)) : stem;
}

async function resolveSyntax(compilation: Compilation, syntax: ToolsetSyntax): Promise<ResolvedReference | undefined> {
  const target = await resolveReference(compilation, syntax);
  return target && { syntax, target };
}
