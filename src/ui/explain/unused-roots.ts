import { fileUseOf } from "../../protocol/file-use.ts";
import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";

/** Returns declared roots of the ceiling that no tool of any worker reads, or writes. */
export function unusedRoots(outline: Outline, way: "reads" | "writes"): ReadonlySet<string> {
  const used = new Set<string>();
  for (const { root } of outline.entry.kind === "code" ? outline.entry.scopes : []) used.add(root);
  const workers = new Map(outline.workers.map((worker) => [worker.id, worker]));
  for (const worker of outline.workers) {
    const use = fileUseOf(worker, workers);
    const isUsed = way === "reads" ? use !== "none" : use === "all";
    for (const { root, mode } of worker.scopes) if (isUsed && (way === "reads" || mode === "rw")) used.add(root);
  }
  return new Set(outline.ceiling[way].filter((root) => !used.has(root)));
}

/** Returns the worker that a run starts with; undefined if it starts with code. */
export function entryOf({ entry, workers }: Outline): OutlinedWorker | undefined {
  return entry.kind === "worker" ? workers.find(({ id }) => id === entry.id) : undefined;
}
