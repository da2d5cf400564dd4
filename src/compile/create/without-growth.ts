import type { Worker } from "../../program/program.ts";
import type { Compilation } from "../compilation.ts";
import { withoutCapability } from "../generated-workers.ts";
import { outlineWorker, showingOf } from "../powers/outline.ts";
import { growthOfWorker, reachOfWorker } from "../powers/reach.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";
import { withoutModels } from "./create-worker.ts";

/**
 * A created worker that can do more now than when it was created (its program has changed around it) is treated like one without a
 * record: it can do nothing. Returns the worker itself where there is no growth.
 */
export function withoutGrowth(compilation: Compilation, resolved: ResolvedWorker, worker: Worker): ResolvedWorker {
  if (!resolved.recorded) return resolved;
  const now = withoutModels(reachOfWorker(outlineWorker(resolved, worker, showingOf(compilation, [])), compilation.root));
  const [growth] = growthOfWorker(resolved.recorded, now, compilation.root);
  if (growth === undefined) return resolved;
  const { recorded: _, creators: __, ...rest } = resolved;
  const file = withoutCapability(
    compilation,
    resolved.file,
    `the worker could do more now than when it was created: it ${growth}`,
  );
  return { ...rest, file, references: [] };
}
