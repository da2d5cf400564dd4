import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";

/** Use that a worker's tools can make of its scopes. `hand-on`: pass files to other workers, as attachments. */
export type FileUse = "all" | "hand-on" | "none";

export function fileUseOf({ toolsets }: OutlinedWorker, { workers }: Outline): FileUse {
  if (toolsets.some(({ kind }) => kind !== "worker" && kind !== "provider")) return "all";
  const called = workers.filter(({ id }) => toolsets.some(({ worker }) => worker === id));
  return called.some(takesAttachments) ? "hand-on" : "none";
}

export function takesAttachments({ input }: OutlinedWorker): boolean {
  return JSON.stringify(input).includes('"x-llm-do":"attachment"');
}

/** Returns declared roots of the ceiling that no tool of any worker reads, or writes. */
export function unusedRoots(outline: Outline, way: "reads" | "writes"): ReadonlySet<string> {
  const used = new Set<string>();
  for (const { root } of outline.entry.kind === "code" ? outline.entry.scopes : []) used.add(root);
  for (const worker of outline.workers) {
    const use = fileUseOf(worker, outline);
    const isUsed = way === "reads" ? use !== "none" : use === "all";
    for (const { root, mode } of worker.scopes) if (isUsed && (way === "reads" || mode === "rw")) used.add(root);
  }
  return new Set(outline.ceiling[way].filter((root) => !used.has(root)));
}

/** Returns the worker that a run starts with; undefined where it starts with code. */
export function entryOf({ entry, workers }: Outline): OutlinedWorker | undefined {
  return entry.kind === "worker" ? workers.find(({ id }) => id === entry.id) : undefined;
}
