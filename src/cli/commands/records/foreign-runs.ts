import { resolve } from "node:path";
import { adopt, readAdoption } from "../../../front/adopt.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { moveWorkerRecords } from "../../../host/own-files/worker-records.ts";
import {
  NotARecord,
  packFolder,
  packRun,
  parseTravelling,
  type TravellingRun,
  unpackRun,
} from "../../../journal/stores/exchange.ts";
import { importedStore, moveRecords } from "../../../journal/stores/folder-store.ts";
import { counted } from "../../../ui/explain/phrases.ts";
import { renderLines } from "../../../ui/text/render-lines.ts";
import { showText } from "../../../ui/text/show-text.ts";
import { commandLine } from "../../command-name.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJsonLine, writeResult, writeStderr } from "../../output.ts";
import { findRun, programOfTarget, storeOfUser } from "../../records/find-runs.ts";
import { describeNext } from "../../records/next-steps.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";

/** `llm-do runs export RUN`: one file with a record, without its secrets. */
export async function exportRunCommand(run: string, { out }: { readonly out?: string }): Promise<number> {
  const { runId, root, store } = await findRun({ run });
  const packed = renderJsonLine(await store.look(runId, (record) => packRun(record, { root })));
  if (out === undefined) await writeResult(packed);
  else await createNodeHost().files.writeAtomically(resolve(out), packed, 0o600);
  return exitCodes.done;
}

/** In bytes. */
const mostOfFile = 400_000_000;

/** `llm-do runs import PATH`: takes in records from elsewhere, to be looked at. Prints their ids. */
export async function importRunsCommand(path: string): Promise<number> {
  const host = createNodeHost();
  const store = importedStore(host);
  const runs = await readForeign(resolve(path));
  if (runs.length === 0) throw new UsageError(`there is no record of a run in ${path}`);
  let exitCode: number = exitCodes.done;
  for (const run of runs) {
    try {
      for (const one of [storeOfUser(host), store]) {
        for await (const _ of one.list({ id: run.id })) throw new NotARecord(`there is a run \`${run.id}\` already`);
      }
      await unpackRun(store, run);
      await writeResult(renderLines([run.id]));
      writeStderr(
        `llm-do: \`${commandLine("runs", "show", run.id)}\` shows it, \`${commandLine("runs", "adopt", run.id)}\` takes it over\n`,
      );
    } catch (thrown) {
      if (!(thrown instanceof NotARecord)) throw thrown;
      writeStderr(`llm-do: ${thrown.message}\n`);
      exitCode = exitCodes.failed;
    }
  }
  return exitCode;
}

async function readForeign(path: string): Promise<readonly TravellingRun[]> {
  const { files } = createNodeHost();
  try {
    if ((await files.kind(path)) === "file") return [parseTravelling(await files.readText(path, { maxBytes: mostOfFile }))];
    const folder = await files.openOwn(path, { isShared: true });
    try {
      return await packFolder(folder);
    } finally {
      await folder.close();
    }
  } catch (thrown) {
    throw new UsageError(`${path} cannot be taken in: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** `llm-do runs adopt RUN [TARGET]`: takes over what happened in a record from elsewhere, after a question. */
export async function adoptRunCommand(
  run: string,
  target: string | undefined,
  { yes }: { readonly yes?: boolean },
): Promise<number> {
  if (run === "last") throw new UsageError("`last` is a run of yours; name the record by its id, which `runs import` printed");
  const host = createNodeHost();
  const found = await findRun({ run, takesForeign: true });
  if (!found.isForeign) throw new UsageError(`the run ${found.runId} is in your store: there is nothing to adopt`);
  const program = await programOfTarget(target);
  const adoption = await readAdoption(host, found.runId);
  if (!adoption) throw new UsageError(`nothing is recorded of \`${found.runId}\``);
  const { compiled, entry, facts, prices, waiting } = adoption;
  const { target: file, files = [file], model, set = [], modelFor = [] } = compiled;
  const options = [
    ...(model === undefined ? [] : [`--model ${model}`]),
    ...set.map((text) => `--set ${text}`),
    ...modelFor.map((text) => `--model-for ${text}`),
    ...prices.map(({ model, input, output, cachedInput }) => `--price ${model}=${[input, output, cachedInput ?? input].join()}`),
  ];
  const lines = [
    `${found.runId} came from elsewhere. Of it would be taken over, for good:`,
    `  ${counted(facts.length, "fact")}: what models answered and what tools gave, unchecked`,
    `  program: ${adoption.program}, from now on the one in ${program.root}`,
    `  target: ${files.join(" ")}, entry ${entry}`,
    `Its answers, approvals, rules and options do not count. What waits is asked anew:`,
    ...(waiting.length > 0 ? waiting.map((description) => `  ${description}`) : ["  nothing"]),
    ...(options.length > 0 ? ["Give its options again if they are to hold:", ...options.map((option) => `  ${option}`)] : []),
  ];
  const render = () => `${renderLines(lines)}Adopt it?`;
  if (yes) writeStderr(renderLines(lines));
  if (!yes && !(await askYesOrNo({ render, otherwise: "--yes adopts it" }))) return exitCodes.failed;
  await adopt(host, adoption, { program, store: storeOfUser(host) });
  await writeResult(renderLines([found.runId]));
  const given =
    options.length > 0 ? `, with its options if they are to hold: ${options.map((option) => showText(option)).join(", ")}` : "";
  const next = await describeNext(await findRun({ run: found.runId }));
  if (next !== undefined) writeStderr(`llm-do: ${next}${given}\n`);
  return exitCodes.done;
}

/** `llm-do runs move OLD NEW`: gives a program that was moved its records, and its created workers what they may do. */
export async function moveRunsCommand(old: string, target: string, { yes }: { readonly yes?: boolean }): Promise<number> {
  const host = createNodeHost();
  const from = resolve(old);
  if ((await host.files.kind(from)) !== undefined) throw new UsageError(`${from} is still there: its records stay with it`);
  const to = await host.files.realPath(resolve(target)).catch(() => undefined);
  if (to === undefined) throw new UsageError(`there is no \`${target}\``);
  const render = () =>
    `${renderLines([`The records of ${from}, and what its created workers may do, become those of ${to}.`])}Move them?`;
  if (!yes && !(await askYesOrNo({ render, otherwise: "--yes moves them" }))) return exitCodes.failed;
  const workers = await moveWorkerRecords(host, from, to);
  const records = await moveRecords(host, storeOfUser(host).path, { from, to });
  if (workers + records === 0)
    throw new UsageError(`there are no records of ${from}; \`${commandLine("runs", "list")}\` names the folders`);
  return exitCodes.done;
}
