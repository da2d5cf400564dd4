import type { Worker } from "../program/program.ts";
import { runsPrograms } from "../program/runs-programs.ts";
import { isInside } from "./is-inside.ts";

/**
 * The workers, by path, that reach beyond the program's folder: by a scope that its files name and that really
 * lies outside of it, links resolved, or by programs of the machine. What their author pre-approved takes effect only when the
 * user has trusted the folder.
 */
export function workersBeyondFolder(realRoot: string, workers: ReadonlyMap<string, Worker>): string[] {
  return [...workers].flatMap(([path, worker]) => {
    const leaves = worker.scopes.some((scope) => !scope.isChosen && !isInside(realRoot, scope.realRoot ?? scope.root));
    return (leaves && worker.toolsets.length > 0) || runsPrograms(worker) ? [path] : [];
  });
}
