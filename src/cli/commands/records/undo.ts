import { resolve } from "node:path";
import { compile, type UndoPlan, type UndoReport, undo } from "../../../front/llm-do.ts";
import { readWriteLog } from "../../../journal/write-log.ts";
import { renderUndo } from "../../../ui/records/render-undo.ts";
import { commandLine } from "../../command-name.ts";
import { exitCodes } from "../../exit-codes.ts";
import { renderJsonLine, writeResult, writeStderr } from "../../output.ts";
import { findRun, streamRuns, takeFirst } from "../../records/find-runs.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";

export interface UndoFlags {
  /** The path of a call. */
  readonly call?: string;
  /** Folders beside the program's own. */
  readonly within?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `llm-do undo [RUN] [TARGET]`: takes back what a run wrote. Returns 1 where a file of the run stays as it is. */
export async function undoCommand(run: string, target: string | undefined, flags: UndoFlags): Promise<number> {
  const { runId, root } = await findRun({ run, target, changes: true });
  const within = [root, ...(flags.within ?? []).map((folder) => resolve(folder))];
  let isRefused = false;
  const confirm = async (plan: UndoPlan): Promise<boolean> => {
    if (flags.dryRun) return false;
    if (flags.yes) return true;
    const isWanted = await askForUndo(plan);
    isRefused = !isWanted;
    return isWanted;
  };
  const program = await protectedBy(root, target);
  const report = await undo({ run: runId, within, program, confirm, ...(flags.call === undefined ? {} : { call: flags.call }) });
  await writeResult(
    flags.json
      ? toJson(report)
      : renderUndo(report, { columns: columnsOf(), diffs: flags.dryRun ?? false, isDone: report.isDone }),
  );
  if (!report.isDone && !flags.dryRun && report.files.length > 0) writeStderr("llm-do: nothing was taken back\n");
  if (run === "last" && report.files.length === 0 && report.lasting.length === 0) await nameLastWriter(target ?? root);
  const areBack = report.files.every(({ action }) => action === "restore" || action === "remove" || action === "same");
  const isComplete = areBack && report.lasting.every(({ isOfFile }) => !isOfFile);
  return isComplete && !isRefused ? exitCodes.done : exitCodes.failed;
}

/** Says which run `last` would have been, had it to be one that wrote. */
async function nameLastWriter(target: string): Promise<void> {
  for (const { runId, store, ends } of await takeFirst(streamRuns(target), mostLooked)) {
    const writes = ends?.undone ? [] : await store.look(runId, readWriteLog).catch(() => []);
    if (writes.length === 0) continue;
    writeStderr(`llm-do: the newest one that did is ${runId}: \`${commandLine("undo", runId)}\`\n`);
    return;
  }
}

/** Runs that wrote nothing, before the newest that did. */
const mostLooked = 200;

/** Returns the places that no tool of the program can have written; if it does not compile, those that names show. Runs none of its code. */
async function protectedBy(root: string, target: string | undefined) {
  const compiled = await compile({ target: target ?? root, trust: false }).catch(() => undefined);
  const { program, codeFiles = [] } = compiled ?? {};
  const { protectedPaths = [], codeFolders = [] } = program ?? {};
  return { root, protectedPaths: [...protectedPaths, ...codeFiles], codeFolders };
}

function columnsOf(): number {
  return process.stdout.columns || Number.POSITIVE_INFINITY;
}

function toJson({ runId, files, lasting, isDone }: UndoReport): string {
  const named = files.map(({ now: _, before: __, ...file }) => file);
  return renderJsonLine({ v: 1, runId, isDone, files: named, lasting });
}

/** Rejects with a `UsageError` if nobody can be asked. */
function askForUndo(plan: UndoPlan): Promise<boolean> {
  return askYesOrNo({
    render: (columns) => `${renderUndo(plan, { columns, diffs: true })}Take this back?`,
    otherwise: "--dry-run shows what would be done, --yes does it",
  });
}
