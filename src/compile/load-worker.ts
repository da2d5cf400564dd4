import type { Span } from "../diagnostics/source.ts";
import { parseWorkerFile } from "../language/parse-worker-file.ts";
import type { WorkerFile } from "../language/worker-file.ts";
import type { WorkerReach } from "../protocol/reach.ts";
import type { Compilation } from "./compilation.ts";
import { extendWorker } from "./extend-worker.ts";
import { isGenerated, readRecord, withoutCapability, withRecord } from "./generated-workers.ts";
import { type Home, workerId, workerName } from "./home.ts";

/** A worker's file as it is to be taken: with what the command line sets, and what it extends. */
export interface LoadedWorker {
  readonly id: string;
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly home: Home;
  readonly isEntry: boolean;
  /** It was made in a run: its texts are no templates. */
  readonly generated: boolean;
  /** Present with a record of its capability: the workers that created it, each by name and id, the nearest first. */
  readonly creators?: readonly (readonly string[])[];
  /** Its capability, by the record. */
  readonly recorded?: WorkerReach;
  readonly file: WorkerFile;
}

export interface WorkerReference {
  readonly path: string;
  readonly home: Home;
  readonly isEntry: boolean;
  /** The span that refers to it. */
  readonly from: Span | undefined;
}

/** Undefined, with diagnostics, if there is no worker in the file. */
export async function loadWorker(
  compilation: Compilation,
  { path, home, isEntry, from }: WorkerReference,
): Promise<LoadedWorker | undefined> {
  const { files, diagnostics, overrides } = compilation;
  const names = { id: workerId(home, path), name: workerName(path, home.folder), isEntry };
  const source = await files.read(path, { home, from });
  if (!source) return undefined;
  const parsed = parseWorkerFile(source, (root) => overrides.patch(root, names));
  diagnostics.addAll(parsed.diagnostics);
  if (!parsed.file) return undefined;
  const generated = await isGenerated(compilation.host, compilation.generated, path);
  const record = generated ? await readRecord(compilation, { path, text: source.text }) : undefined;
  const own = record
    ? withRecord(compilation, parsed.file)
    : generated
      ? withoutCapability(compilation, parsed.file)
      : parsed.file;
  const file = await extendWorker(compilation, { path, home, file: own });
  return { ...names, path, home, generated, file, ...record };
}
