import { basename, dirname, sep } from "node:path";
import type { Source, Span } from "../../diagnostics/source.ts";
import type { ModelId } from "../../models/model-id.ts";
import { scriptedProvider } from "../../models/scripted/scripted-provider.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { isFlag } from "../flag.ts";
import type { KnownProvider } from "./link-providers.ts";

/**
 * Reports a script that cannot be played, and a name that is probably misspelt. Runs no code: of a script in TypeScript, only its file
 * is looked for.
 */
export async function checkModel(
  compilation: Compilation,
  { id, span }: { readonly id: ModelId; readonly span: Span },
  known: readonly KnownProvider[],
): Promise<void> {
  const provider = known.findLast(({ name }) => name.toLowerCase() === id.provider);
  if (provider === scriptedProvider) await checkScript(compilation, id.name, span);
  else if (provider?.priceTable !== undefined && !compilation.toRun)
    await checkName(compilation, { ...id, table: provider.priceTable }, span);
}

async function checkScript({ host, root, files, home, diagnostics }: Compilation, path: string, span: Span): Promise<void> {
  const name = basename(path);
  // A file of a package, or beyond the program's folder, is not even looked for: whether it may be read is a question of trust.
  if (!isFlag(span) && (!isWithin(path, root) || path.split(sep).includes("node_modules"))) return;
  if ((await host.files.kind(path)) === undefined) {
    const place = isFlag(span) ? `it is looked for at ${path}: paths of flags are relative to the working directory` : undefined;
    const note = didYouMean(name, await host.files.names(dirname(path)).catch(() => [])) ?? place;
    diagnostics.report("reference-missing", { message: `there is no script \`${name}\``, span, note });
    return;
  }
  const { inspectScript } = await import("../../models/scripted/load-script.ts");
  // A script that a file names is part of the program, and read as such, once. One that cannot be read is reported there.
  const source = isFlag(span) ? undefined : await files.read(path, { home, from: span });
  const readOfProgram = async () => source?.text ?? "[]";
  const { problem, offset, workers } = await inspectScript(path, isFlag(span) ? host.files.readText : readOfProgram);
  if (problem !== undefined) {
    const message = problem.replace(path, name);
    const place = source && offset !== undefined ? wordAt(source, offset) : undefined;
    const notes = place ? [{ message: "it plays the model here", span }] : [];
    diagnostics.report("script-invalid", { message, span: place ?? span, notes });
  }
  const names = (await home.names.workerNames()).filter((worker) => !workers.has(worker));
  for (const [worker, place] of workers) {
    // A name like no other one can be that of a worker of a package, or of one that is made in the run.
    const note = (await home.names.workerPaths(worker)).length > 0 ? undefined : didYouMean(worker, names);
    if (note === undefined) continue;
    const message = `${place.replace(path, name)}: no worker is called \`${clipText(worker, 60)}\`, so these turns are never used`;
    diagnostics.report("script-worker-unknown", { message, span, note });
  }
}

function wordAt(source: Source, start: number): Span {
  const [word = ""] = /^[^\s:,]*/.exec(source.text.slice(start, start + 200)) ?? [];
  return { source, start, end: start + Math.max(1, word.length) };
}

/** A name that no table lists may be new: only one that differs in its letters, and little, is reported. */
async function checkName(
  { diagnostics }: Compilation,
  { provider, name, table }: ModelId & { readonly table: string },
  span: Span,
): Promise<void> {
  const { findNearModel } = await import("../../models/model-catalog.ts");
  const near = await findNearModel(name, table);
  if (near === undefined) return;
  const message = `the list of published prices has no model \`${name}\` of \`${provider}\``;
  diagnostics.report("model-unlisted", { message, span, note: `did you mean \`${provider}:${near}\`?` });
}
