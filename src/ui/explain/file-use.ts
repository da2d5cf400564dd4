import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";

/** What a worker's tools can do with its scopes. `hand-on`: give their files to other workers, as attachments. */
export type FileUse = "all" | "hand-on" | "none";

export function fileUseOf({ toolsets }: OutlinedWorker): FileUse {
  if (toolsets.some(({ kind }) => kind !== "worker")) return "all";
  return toolsets.length > 0 ? "hand-on" : "none";
}

/** Roots of the ceiling that are declared, and that no tool of any worker reaches in this way. */
export function unusedRoots({ workers, ceiling }: Outline, way: "reads" | "writes"): ReadonlySet<string> {
  const used = new Set<string>();
  for (const worker of workers) {
    const use = fileUseOf(worker);
    const isUsed = way === "reads" ? use !== "none" : use === "all";
    for (const { root, mode } of worker.scopes) if (isUsed && (way === "reads" || mode === "rw")) used.add(root);
  }
  return new Set(ceiling[way].filter((root) => !used.has(root)));
}
