import { join, relative, resolve } from "node:path";
import { compileWith } from "../../front/llm-do.ts";
import type { CompiledWith, ProgramOptions } from "../../protocol/fact.ts";
import { commandLine } from "../command-name.ts";
import { type CompileFlags, toRequest } from "../programs/open-program.ts";
import { isTrusted } from "../programs/require-trust.ts";
import type { FoundRun } from "./find-runs.ts";
import { readStart, sourceOf } from "./recorded-program.ts";
import { executorGoesOn, libraryGoesOn, type RepeatedFlags, resumeLine } from "./resume-line.ts";

/**
 * Returns the command line that goes on with a recorded run. A record gives no authority: a script that it names is named again, as the
 * user's own, and the program's code needs `--trust` where its folder is not trusted for good. Compiles, and runs none of it.
 */
export async function describeGoOn(found: FoundRun, given: RepeatedFlags = {}): Promise<string> {
  if (found.isSubmitted) return executorGoesOn;
  try {
    const { compiled } = await readStart(found);
    if (compiled?.workers) return libraryGoesOn;
    const scripts = scriptsOf(found, compiled);
    const flags = { ...scripts, ...given };
    const { isTrustNeeded, isModelMissing } = await findNeeds(found, compiled, flags);
    const line = resumeLine(found.runId, { ...flags, ...(isTrustNeeded ? { trust: true } : {}) });
    return isModelMissing ? `${line} --model PROVIDER:NAME` : line;
  } catch {
    return resumeLine(found.runId, given);
  }
}

/** The command line that shows what would be trusted. */
export function explainLine({ root }: FoundRun): string {
  return commandLine("explain", relative(process.cwd(), root) || ".");
}

/** The model of an adopted run is its record's word, so it is not repeated. */
async function findNeeds(
  found: FoundRun,
  compiled: CompiledWith | undefined,
  flags: RepeatedFlags & CompileFlags,
): Promise<{ readonly isTrustNeeded: boolean; readonly isModelMissing: boolean }> {
  const source = await sourceOf({ found, compiled }, flags);
  const request = { ...toRequest(source.targets, source.flags), trust: false, toRun: true, forRun: { run: found.runId } };
  const read = await compileWith(request, source.ofProgram);
  const needsTrust = async () => read.trust !== undefined && !(await isTrusted(read));
  return {
    isTrustNeeded: flags.trust ?? (await needsTrust()),
    isModelMissing: read.diagnostics.some(({ code }) => code === "model-missing"),
  };
}

/** The recorded options that name scripts, relative to the working directory as flags are. */
function scriptsOf({ root }: FoundRun, { model, set = [], modelFor = [] }: ProgramOptions = {}): CompileFlags {
  const here = (text: string) =>
    text.replace(/^((?:[^=]*=)?scripted:)(.+)$/is, (_, before: string, path: string) => {
      const place = relative(process.cwd(), resolve(root, path));
      return `${before}${place.startsWith("..") ? join(root, path) : place}`;
    });
  const named = (texts: readonly string[]) => texts.filter((text) => /(?:^|=)scripted:/i.test(text)).map(here);
  const [models, sets, modelsFor] = [named(model === undefined ? [] : [model]), named(set), named(modelFor)];
  return {
    ...(models[0] === undefined ? {} : { model: models[0] }),
    ...(sets.length > 0 ? { set: sets } : {}),
    ...(modelsFor.length > 0 ? { modelFor: modelsFor } : {}),
  };
}
