import { findProgram, printKept } from "../../../boundary/keep.ts";
import { findTaken, writeNewFiles } from "../../../host/files/new-files.ts";
import { expandWhole, TextGone } from "../../../journal/expand-texts.ts";
import { readJournal } from "../../../journal/read-journal.ts";
import type { RunStore } from "../../../journal/stores/store.ts";
import { showLines } from "../../../ui/text/show-lines.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { findRun } from "../../records/find-runs.ts";
import { asUsage } from "../../records/find-step.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";

export interface KeepFlags {
  readonly as: string;
  readonly yes?: boolean;
}

/** `llm-do keep RUN[/CALL] [TARGET] --as NAME`: makes a tool of a program that a model wrote in a run. */
export async function keepCommand(from: string, target: string | undefined, { as: name, yes }: KeepFlags): Promise<number> {
  if (!/^[A-Za-z]\w{0,63}$/.test(name)) throw new UsageError(`${name}: the name of a tool has letters, digits and _`);
  const [run = "", ...path] = from.split("/");
  const { runId, root, store, isForeign } = await findRun({ run, target, changes: true });
  if (isForeign) throw new UsageError(`the record of ${runId} came from elsewhere: no program of it is kept`);
  const text = await readText(store, runId, path.join("/")).catch((thrown: unknown) => {
    throw thrown instanceof TextGone ? new UsageError(thrown.message) : asUsage(thrown);
  });
  const file = `${name}.program.js`;
  if ((await findTaken(root, [file])).length > 0) throw new UsageError(`${file}: there is such a file`);
  await writeResult(`+ ${file}\n${showLines("  + ", text)}`);
  if (!yes && !(await askYesOrNo({ render: () => "Write this?", otherwise: "--yes writes it" }))) return exitCodes.failed;
  await writeNewFiles(root, new Map([[file, text]]));
  writeStderr(`llm-do: written into ${file}: describe it there, and name it under \`toolsets\` of a worker: \`${name}: {}\`\n`);
  return exitCodes.done;
}

async function readText(store: RunStore, runId: string, path: string): Promise<string> {
  const facts = await store.look(runId, async (record) => expandWhole(record, (await readJournal(record)).entries));
  return printKept(findProgram(facts, path));
}
