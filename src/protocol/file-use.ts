import type { OutlinedToolset, OutlinedWorker } from "./outline.ts";

/** Use that a worker's tools can make of its scopes. `hand-on`: pass files to other workers, as attachments. */
export type FileUse = "all" | "hand-on" | "none";

/** `workers`: of the program, by id. */
export function fileUseOf({ toolsets }: OutlinedWorker, workers: ReadonlyMap<string, OutlinedWorker>): FileUse {
  if (toolsets.some(({ kind, workers: called }) => kind !== "worker" && kind !== "provider" && !called)) return "all";
  const called = toolsets.flatMap(workersOf).flatMap((id) => workers.get(id) ?? []);
  return called.some(takesAttachments) ? "hand-on" : "none";
}

/** Returns the ids of the workers that a toolset calls: one of its own name, or those of `delegation`. */
export function workersOf({ worker, workers = [] }: Pick<OutlinedToolset, "worker" | "workers">): readonly string[] {
  return worker === undefined ? workers : [worker];
}

/** Returns true if its input takes files, which its caller chooses. */
export function takesAttachments({ input }: OutlinedWorker): boolean {
  return JSON.stringify(input).includes('"x-llm-do":"attachment"');
}
