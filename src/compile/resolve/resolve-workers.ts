import type { ToolsetSyntax } from "../../language/worker-file.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";
import { canCreateWorkers } from "../link/link-toolsets.ts";
import { type LoadedWorker, loadWorker, type WorkerReference } from "../load-worker.ts";
import { reportMissing } from "./find-delegates.ts";
import type { CallTable } from "./resolve-calls.ts";
import { type ResolvedReference, resolveReference } from "./resolve-reference.ts";

/** A worker with its references resolved, not yet checked against what they resolve to. */
export interface ResolvedWorker extends LoadedWorker {
  readonly references: readonly ResolvedReference[];
}

/**
 * Reads the workers to start from and every worker that is reachable from them, by path, in the order in which they are
 * met. A file that does not parse is left out. Nothing else in the program's folder is looked at.
 */
export async function resolveWorkers(
  compilation: Compilation,
  start: readonly WorkerReference[],
  calls: CallTable,
): Promise<Map<string, ResolvedWorker>> {
  const workers = new Map<string, ResolvedWorker>();
  const seen = new Set(start.map(({ path }) => path));
  let wave = start;
  while (wave.length > 0) {
    const next: WorkerReference[] = [];
    for (const worker of await Promise.all(wave.map((step) => resolveWorker(compilation, step)))) {
      if (!worker) continue;
      workers.set(worker.path, worker);
      for (const { path, home, from } of await reachedFrom(worker, calls)) {
        if (seen.has(path)) continue;
        seen.add(path);
        next.push({ path, home, isEntry: false, from });
      }
    }
    wave = next;
  }
  return workers;
}

/** The workers that a worker, or the code of its tools, can call. */
async function reachedFrom({ references }: ResolvedWorker, calls: CallTable): Promise<Omit<WorkerReference, "isEntry">[]> {
  const reached: Omit<WorkerReference, "isEntry">[] = [];
  for (const { syntax, target } of references) {
    const from = syntax.reference.span;
    if (target.kind === "worker") reached.push({ ...target, from });
    if (target.kind === "toolset") reached.push(...(target.delegates ?? []).map((delegate) => ({ ...delegate, from })));
    if (target.kind === "toolset" && target.code)
      for (const tool of target.callers) {
        const called = await calls.addTool(tool, { ...target.code, name: tool.name, from });
        reached.push(...called.map((one) => ({ ...one, from })));
      }
  }
  return reached;
}

async function resolveWorker(compilation: Compilation, step: WorkerReference): Promise<ResolvedWorker | undefined> {
  const loaded = await loadWorker(compilation, step);
  if (!loaded) return undefined;
  const toolsets = loaded.file.toolsets?.value ?? [];
  const references = await Promise.all(toolsets.map((syntax) => resolveSyntax(compilation, syntax, loaded.home)));
  const resolved = references.filter((reference) => reference !== undefined);
  reportMissing(compilation, resolved, { canCreate: resolved.some(canCreateWorkers), generated: loaded.generated });
  return { ...loaded, references: resolved };
}

async function resolveSyntax(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  home: Home,
): Promise<ResolvedReference | undefined> {
  const resolved = await resolveReference(compilation, syntax, home);
  if (resolved?.target.kind === "unverified") {
    const message = `\`${resolved.target.name}\` is code, and the program is not trusted: whether it is a toolset is not known`;
    compilation.diagnostics.report("not-verified-untrusted", { message, span: syntax.reference.span });
  }
  return resolved;
}
