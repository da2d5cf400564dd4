import { type PriceLookup, priceTable } from "../models/prices.ts";
import type { Program, Worker } from "../program/program.ts";
import type { Limits } from "../protocol/usage.ts";
import { RunError } from "./run-error.ts";

/** Throws a `RunError`, before anything is spent, where dollars are limited and a model that draws on them has no known price. */
export async function requirePrices(program: Program, limits: Limits, priceOf: PriceLookup): Promise<void> {
  const workers = [...program.workers.values()];
  const limited = limits.usd === undefined ? workers.filter((worker) => worker.limits.usd !== undefined) : workers;
  for (const worker of reachedBy(program, limited)) {
    if (!worker.model || (await priceOf(worker.model.id))) continue;
    const { id } = worker.model;
    throw new RunError(
      "configuration",
      `dollars are limited (\`limits.usd\`), and no price is known for \`${id}\`, the model of \`${worker.name}\`: give one with ` +
        `--price '${id}=INPUT,OUTPUT' or \`prices\`, in dollars for a million tokens (the table is of ${priceTable.date})`,
    );
  }
}

/** These workers and all that they can call, themselves or through the code of tools. */
function reachedBy({ callables }: Program, workers: readonly Worker[]): ReadonlySet<Worker> {
  const reached = new Set(workers);
  for (const worker of reached) {
    const names = new Set<string>();
    for (const reference of worker.toolsets) {
      if (reference.kind === "worker") reached.add(reference.worker());
      else for (const { calls = [] } of reference.binding.tools) for (const name of calls) names.add(name);
    }
    for (const name of names) {
      const callable = callables.get(name);
      if (callable?.kind === "worker") reached.add(callable.worker);
      else for (const called of callable?.tool.calls ?? []) names.add(called);
    }
  }
  return reached;
}
