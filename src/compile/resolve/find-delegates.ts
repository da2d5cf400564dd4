import { relative } from "node:path";
import type { DiagnosticDetails } from "../../diagnostics/diagnose.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import type { ToolsetSyntax } from "../../language/worker-file.ts";
import { allowedWorkers } from "../../toolsets/workers/delegation.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import type { Compilation } from "../compilation.ts";
import { type Home, homeOf, workerName } from "../home.ts";
import type { Delegate, ResolvedReference } from "./resolve-reference.ts";
import { findWorkerPaths, isWorkerPath, resolveWorkerPath } from "./worker-path.ts";

/** A name or glob that no worker has. */
export interface MissingDelegate {
  readonly isGlob: boolean;
  readonly details: DiagnosticDetails;
}

export interface FoundDelegates {
  readonly delegates: readonly Delegate[];
  readonly missing: readonly MissingDelegate[];
}

/** The workers that a configuration of `delegation` names, globs expanded. Reports names that mean several. */
export async function findDelegates(compilation: Compilation, syntax: ToolsetSyntax, home: Home): Promise<FoundDelegates> {
  const { config, configSpans, reference } = syntax;
  const known = await home.names.workerNames();
  const found = new Map<string, Delegate>();
  const missing: MissingDelegate[] = [];
  for (const [index, glob] of allowedWorkers(config.value).entries()) {
    const span = spanAt(configSpans, ["allow_workers", index]) ?? spanAt(configSpans, ["lock_worker"]) ?? reference.span;
    const allowed = { value: glob, span, toolset: reference.value };
    const isPath = isWorkerPath(glob);
    const delegates = isPath
      ? await findByPath(compilation, allowed, home)
      : await findByName(compilation, allowed, { home, names: known.filter((name) => matchesFlatGlob(glob, name)) });
    const isGlob = /[*?]/.test(glob);
    if (delegates.length === 0 && (isGlob || !isPath)) missing.push({ isGlob, details: describeMissing(allowed, known) });
    for (const delegate of delegates) {
      const other = found.get(delegate.name);
      if (other && other.path !== delegate.path) reportSeveral(compilation, allowed, [other, delegate]);
      if (!other) found.set(delegate.name, delegate);
    }
  }
  return { delegates: [...found.values()], missing };
}

/** A name, path or glob under `allow_workers`. */
interface Allowed extends Spanned<string> {
  readonly toolset: string;
}

async function findByName(
  compilation: Compilation,
  allowed: Allowed,
  { home, names }: { readonly home: Home; readonly names: readonly string[] },
): Promise<readonly Delegate[]> {
  const found: Delegate[] = [];
  for (const name of names) {
    const delegates = (await home.names.workerPaths(name)).map((path) => ({ name, path, home: homeOf(path, home) }));
    if (delegates.length > 1) reportSeveral(compilation, allowed, delegates);
    found.push(...delegates.slice(0, 1));
  }
  return found;
}

async function findByPath(compilation: Compilation, allowed: Allowed, home: Home): Promise<readonly Delegate[]> {
  const written = allowed.value;
  const isGlob = /[*?]/.test(written);
  const one = isGlob ? undefined : await resolveWorkerPath(compilation, allowed, home);
  const placed = isGlob ? await findWorkerPaths(compilation, allowed, home) : one ? [one] : [];
  return placed.map((worker) => ({ ...worker, written, name: workerName(worker.path, worker.home.folder) }));
}

function describeMissing({ value, span, toolset }: Allowed, known: readonly string[]): DiagnosticDetails {
  const shown = clipText(value, 80);
  const byPath = "a worker elsewhere is named by its path, `./x/y.worker` or `package:workers/y.worker`";
  const near = didYouMean(shown, known) ?? (known.length > 0 ? `the workers: ${quoteNames(known)}` : byPath);
  return { message: `\`${toolset}\` allows \`${shown}\`, and no worker has that name`, span, note: near };
}

function reportSeveral({ host, diagnostics }: Compilation, { span, toolset }: Allowed, delegates: readonly Delegate[]): void {
  const files = delegates.map(({ path }) => `\`${relative(host.workingDirectory, path)}\``).join(" or ");
  const message = `\`${toolset}\` allows \`${delegates[0]?.name}\`, which could be ${files}`;
  diagnostics.report("ambiguous-toolset", { message, span, note: "rename one of them" });
}

/** Reports names that no worker has, unless a worker of that name can be created in a run. */
export function reportMissing(
  { diagnostics }: Compilation,
  references: readonly ResolvedReference[],
  { canCreate, generated }: { readonly canCreate: boolean; readonly generated: boolean },
): void {
  if (canCreate) return;
  for (const { isGlob, details } of references.flatMap(({ missing = [] }) => missing))
    diagnostics.report(isGlob || generated ? "toolset-warning" : "toolset-config", details);
}
