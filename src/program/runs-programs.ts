import type { Worker } from "./program.ts";

/** True if a worker's own tools start programs of the machine. */
export function runsPrograms({ toolsets }: Pick<Worker, "toolsets">): boolean {
  return toolsets.some(({ toolset }) => toolset.requires?.includes("commands"));
}
