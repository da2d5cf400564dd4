import { relative, resolve } from "node:path";
import { compileWith, type Program } from "../../front/llm-do.ts";
import { listQuestions } from "../../front/questions.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { readRecord } from "../../journal/read-journal.ts";
import { findOwnerState } from "../../journal/stores/owner.ts";
import type { RecordReader } from "../../journal/stores/record-place.ts";
import type { CompiledWith, ProgramOptions } from "../../protocol/fact.ts";
import { commandLine } from "../command-name.ts";
import { type CompileFlags, toRequest } from "../programs/open-program.ts";
import { isTrusted } from "../programs/require-trust.ts";
import type { FoundRun } from "./find-runs.ts";
import { describeMore } from "./more-allowed.ts";
import { readStart, sourceOf } from "./recorded-program.ts";
import { executorGoesOn, libraryGoesOn, quoteGoOn, type RepeatedFlags, resumeLine } from "./resume-line.ts";

/** How a run goes on: a command line, with values for `--limit`, or the words for what goes on with it where no line does. */
interface WayOn {
  readonly line: (limits?: readonly string[]) => string;
  readonly entry?: Program["entry"] | undefined;
}

/**
 * Returns the command line that goes on with a recorded run. A record gives no authority: a script that it names is named again, as the
 * user's own, and the program's code needs `--trust` where its folder is not trusted for good. Compiles, and runs none of it.
 */
export async function describeGoOn(found: FoundRun, given: RepeatedFlags = {}): Promise<string> {
  return (await findWayOn(found, given)).line();
}

/**
 * Says what can be done next with a run, as a clause: every command that meets a run that did not come to its end says the same. Undefined
 * where nothing goes on with it: it is done, or a process executes it.
 */
export async function describeNext(found: FoundRun, given: RepeatedFlags = {}): Promise<string | undefined> {
  const { runId, isForeign, ends, problem } = found;
  if (isForeign) return `\`${commandLine("runs", "adopt", runId)}\` takes over what happened, and then it can go on`;
  const { last } = ends ?? {};
  if (problem !== undefined || ends?.version !== 2 || last === undefined || ends.undone) return undefined;
  if (last.type === "run-end" && last.stopReason === "done") return undefined;
  if (last.type !== "run-end" && last.type !== "answer" && (await isExecuted(found))) return undefined;
  const { line, entry } = await findWayOn(found, given);
  if (last.type === "run-end" && (last.stopReason === "limit" || last.stopReason === "cut"))
    return describeMore(last, entry, line);
  const goesOn = `${quoteGoOn(line())} goes on with it`;
  const { questions } = await listQuestions({ run: runId, store: found.store }).catch(() => ({ questions: [] }));
  return questions.some(({ answer }) => answer === undefined)
    ? `\`${commandLine("approve", runId)}\` asks what waits for an answer, and ${goesOn}`
    : goesOn;
}

async function isExecuted({ runId, store }: FoundRun): Promise<boolean> {
  const host = createNodeHost();
  const look = async (record: RecordReader) => findOwnerState(host, record, (await readRecord(record)).facts) !== "none";
  return store.look(runId, look).catch(() => true);
}

async function findWayOn(found: FoundRun, given: RepeatedFlags): Promise<WayOn> {
  if (found.isSubmitted) return { line: () => executorGoesOn };
  try {
    const { compiled } = await readStart(found);
    if (compiled?.workers) return { line: () => libraryGoesOn };
    const scripts = scriptsOf(found, compiled);
    const flags = { ...scripts, ...given };
    const { isTrustNeeded, isModelMissing, entry } = await findNeeds(found, compiled, flags);
    const repeated = { ...flags, ...(isTrustNeeded ? { trust: true } : {}) };
    const model = isModelMissing ? " --model PROVIDER:NAME" : "";
    return { line: (limits) => `${resumeLine(found.runId, repeated, limits)}${model}`, entry };
  } catch {
    return { line: (limits) => resumeLine(found.runId, given, limits) };
  }
}

/** The model of an adopted run is its record's word, so it is not repeated. */
async function findNeeds(
  found: FoundRun,
  compiled: CompiledWith | undefined,
  flags: RepeatedFlags & CompileFlags,
): Promise<Pick<WayOn, "entry"> & { readonly isTrustNeeded: boolean; readonly isModelMissing: boolean }> {
  const source = await sourceOf({ found, compiled }, flags);
  const request = { ...toRequest(source.targets, source.flags), trust: false, toRun: true, forRun: { run: found.runId } };
  const read = await compileWith(request, source.ofProgram);
  const needsTrust = async () => read.trust !== undefined && !(await isTrusted(read));
  return {
    isTrustNeeded: flags.trust ?? (await needsTrust()),
    entry: read.program?.entry,
    isModelMissing: read.diagnostics.some(({ code }) => code === "model-missing"),
  };
}

/** The recorded options that name scripts, relative to the working directory as flags are. */
function scriptsOf({ root }: FoundRun, { model, set = [], modelFor = [] }: ProgramOptions = {}): CompileFlags {
  const here = (text: string) =>
    text.replace(/^((?:[^=]*=)?scripted:)(.+)$/is, (_, before: string, path: string) => {
      const place = relative(process.cwd(), resolve(root, path));
      return `${before}${place.startsWith("..") ? resolve(root, path) : place}`;
    });
  const named = (texts: readonly string[]) => texts.filter((text) => /(?:^|=)scripted:/i.test(text)).map(here);
  const [models, sets, modelsFor] = [named(model === undefined ? [] : [model]), named(set), named(modelFor)];
  return {
    ...(models[0] === undefined ? {} : { model: models[0] }),
    ...(sets.length > 0 ? { set: sets } : {}),
    ...(modelsFor.length > 0 ? { modelFor: modelsFor } : {}),
  };
}
