import { relative } from "node:path";
import { spanAt } from "../language/json-shape.ts";
import type { ToolsetSyntax } from "../language/worker-file.ts";
import { allowedWorkers } from "../toolsets/delegation.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { matchesFlatGlob } from "../util/flat-glob.ts";
import type { Compilation } from "./compilation.ts";
import { type Home, homeOf } from "./home.ts";
import type { Delegate } from "./resolve-reference.ts";

/** The workers that a configuration of `delegation` names, globs expanded. Reports names that mean none, or several. */
export async function findDelegates(
  { host, diagnostics }: Compilation,
  { config, configSpans, reference }: ToolsetSyntax,
  home: Home,
): Promise<readonly Delegate[]> {
  const known = await home.names.workerNames();
  const found = new Map<string, Delegate>();
  for (const [index, glob] of allowedWorkers(config.value).entries()) {
    const span = spanAt(configSpans, ["allow_workers", index]) ?? spanAt(configSpans, ["lock_worker"]) ?? reference.span;
    const names = known.filter((name) => matchesFlatGlob(glob, name));
    if (names.length === 0) {
      const shown = clipText(glob, 80);
      const note = didYouMean(shown, known) ?? `the workers: ${quoteNames(known) || "none"}`;
      const code = /[*?]/.test(glob) ? "toolset-warning" : "toolset-config";
      diagnostics.report(code, {
        message: `\`${reference.value}\` allows \`${shown}\`, and no worker has that name`,
        span,
        note,
      });
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
  return [...found.values()];
}
