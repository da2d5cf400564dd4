import { relative } from "node:path";
import type { DiagnosticDetails } from "../diagnostics/diagnose.ts";
import { spanAt } from "../language/json-shape.ts";
import type { ToolsetSyntax } from "../language/worker-file.ts";
import { allowedWorkers } from "../toolsets/delegation.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { matchesFlatGlob } from "../util/flat-glob.ts";
import type { Compilation } from "./compilation.ts";
import { type Home, homeOf } from "./home.ts";
import type { Delegate, ResolvedReference } from "./resolve-reference.ts";

/** A name or glob that no worker has. */
export interface MissingDelegate {
  readonly isGlob: boolean;
  readonly details: DiagnosticDetails;
}

/** The workers that a configuration of `delegation` names, globs expanded. Reports names that mean several. */
export async function findDelegates(
  { host, diagnostics }: Compilation,
  { config, configSpans, reference }: ToolsetSyntax,
  home: Home,
): Promise<{ readonly delegates: readonly Delegate[]; readonly missing: readonly MissingDelegate[] }> {
  const known = await home.names.workerNames();
  const found = new Map<string, Delegate>();
  const missing: MissingDelegate[] = [];
  for (const [index, glob] of allowedWorkers(config.value).entries()) {
    const span = spanAt(configSpans, ["allow_workers", index]) ?? spanAt(configSpans, ["lock_worker"]) ?? reference.span;
    const names = known.filter((name) => matchesFlatGlob(glob, name));
    if (names.length === 0) {
      const shown = clipText(glob, 80);
      const note = didYouMean(shown, known) ?? `the workers: ${quoteNames(known) || "none"}`;
      const message = `\`${reference.value}\` allows \`${shown}\`, and no worker has that name`;
      missing.push({ isGlob: /[*?]/.test(glob), details: { message, span, note } });
    }
    for (const name of names) {
      if (found.has(name)) continue;
      const [path, ...others] = await home.names.workerPaths(name);
      if (path === undefined) continue;
      if (others.length > 0) {
        const files = [path, ...others].map((one) => `\`${relative(host.workingDirectory, one)}\``).join(" or ");
        const message = `\`${reference.value}\` allows \`${name}\`, which could be ${files}`;
        diagnostics.report("ambiguous-toolset", { message, span, note: "rename one of them" });
      }
      found.set(name, { name, path, home: homeOf(path, home) });
    }
  }
  return { delegates: [...found.values()], missing };
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
