import { type UndoPlan, type UndoReport, undo } from "../../llm-do.ts";
import { renderUndo } from "../../ui/render-undo.ts";
import { exitCodes, Interrupted, UsageError } from "../exit-codes.ts";
import { findRun } from "../find-runs.ts";
import { writeResult, writeStderr } from "../output.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal } from "../terminal.ts";

export interface UndoFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `llm-do undo [RUN] [TARGET]`: takes back what a run wrote. Returns 1 where a file of the run stays as it is. */
export async function undoCommand(run: string, target: string | undefined, flags: UndoFlags): Promise<number> {
  const directory = await findRun(run, target);
  let isRefused = false;
  const confirm = async (plan: UndoPlan): Promise<boolean> => {
    if (flags.dryRun) return false;
    if (flags.yes) return true;
    const isWanted = await askForUndo(plan);
    isRefused = !isWanted;
    return isWanted;
  };
  const report = await undo({ directory, confirm });
  await writeResult(flags.json ? toJson(report) : renderUndo(report, { columns: columnsOf(), diffs: flags.dryRun ?? false }));
  if (isRefused) writeStderr("llm-do: nothing was taken back\n");
  const isComplete = report.files.every(({ action }) => action === "restore" || action === "remove" || action === "same");
  return isComplete && !isRefused ? exitCodes.done : exitCodes.failed;
}

function columnsOf(): number {
  return process.stdout.columns || 80;
}

function toJson({ runId, files, lasting, isDone }: UndoReport): string {
  const named = files.map(({ now: _, before: __, ...file }) => file);
  return `${JSON.stringify({ v: 1, runId, isDone, files: named, lasting })}\n`;
}

/** Rejects with a `UsageError` where nobody can be asked. */
async function askForUndo(plan: UndoPlan): Promise<boolean> {
  const controller = new AbortController();
  const { interrupt: onInterrupt, ignoreInterrupts, close } = listenForSignals((name) => controller.abort(new Interrupted(name)));
  try {
    const terminal = findTerminal({ onInterrupt, ignoreInterrupts });
    if (!terminal) throw new UsageError("there is no terminal to ask at: --dry-run shows what would be done, --yes does it");
    const shown = renderUndo(plan, { columns: terminal.columns, diffs: true });
    const text = `\n${shown}Take this back?\n  yes  do it\n  no   leave everything as it is\n`;
    return await terminal.ask({ text, read: readAnswer }, controller.signal);
  } finally {
    close();
  }
}

function readAnswer(line: string | undefined): { readonly answer: boolean } | string {
  const word = line?.trim().toLowerCase();
  if (word === "y" || word === "yes") return { answer: true };
  return word === undefined || word === "n" || word === "no" ? { answer: false } : "Answer with yes or no.";
}
