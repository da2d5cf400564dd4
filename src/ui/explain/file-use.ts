import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";

/** What a worker's tools can do with its scopes. `hand-on`: give their files to other workers, as attachments. */
export type FileUse = "all" | "hand-on" | "none";

export function fileUseOf({ toolsets }: OutlinedWorker, { workers }: Outline): FileUse {
  if (toolsets.some(({ kind }) => kind !== "worker" && kind !== "provider")) return "all";
  const called = workers.filter(({ id }) => toolsets.some(({ worker }) => worker === id));
  return called.some(takesAttachments) ? "hand-on" : "none";
}

export function takesAttachments({ input }: OutlinedWorker): boolean {
  return JSON.stringify(input).includes('"x-llm-do":"attachment"');
}

/** Roots of the ceiling that are declared, and that no tool of any worker reaches in this way. */
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

/** The worker that starts; undefined where code does. */
export function entryOf({ entry, workers }: Outline): OutlinedWorker | undefined {
  return entry.kind === "worker" ? workers.find(({ id }) => id === entry.id) : undefined;
}
