import type { UndoneFile, UndoPlan } from "../../front/undo.ts";
import { runSteps } from "../../util/in-steps.ts";
import { bytes, counted } from "../explain/phrases.ts";
import { callLabel } from "../text/call-label.ts";
import { PreviewRows } from "../text/preview-rows.ts";
import { renderDiff } from "../text/render-diff.ts";
import { renderLines } from "../text/render-lines.ts";

export interface UndoRendering {
  readonly columns: number;
  /** It is done, and not a plan. */
  readonly isDone?: boolean;
  /** Shows a diff of each file that is restored. */
  readonly diffs: boolean;
}

/** Says of a file that it was done. */
const done: Readonly<Record<string, (file: UndoneFile) => string>> = {
  restore: ({ before }) => `restored: ${bytes(before?.length ?? 0)}`,
  remove: () => "removed: the run had made it",
};

const reasons: Readonly<Record<UndoneFile["action"], (file: UndoneFile) => string>> = {
  restore: ({ before }) => `restore: ${bytes(before?.length ?? 0)}`,
  remove: () => "remove: the run made it",
  same: () => "is as it was",
  changed: () => "left: it was changed since the run wrote it",
  "not-kept": () => "left: its content before is not kept: too large, or written by another call of the run",
  outside: () => "left: it is outside of the program's folder; --within FOLDER takes it back, too",
  program: () => "left: it belongs to the program",
  failed: ({ error = "" }) => `left: ${error}`,
};

/** Lists what an undo would do, or has done, with their sum: a line for each file, and for each call that stays. */
export function renderUndo({ runId, files, lasting }: UndoPlan, { columns, diffs, isDone = false }: UndoRendering): string {
  const head =
    files.length > 0
      ? `run ${runId} wrote ${counted(files.length, "file")}:`
      : `run ${runId} wrote no files that can be taken back`;
  const rows = files.flatMap((file) => [
    `  ${file.path}  ${((isDone && done[file.action]) || reasons[file.action])(file)}${file.isPartial ? "; its earlier writes stay: something else changed it between them" : ""}`,
    ...(diffs && file.action === "restore" ? diffRows(file, columns) : []),
  ]);
  const toRows = (why: string, calls: UndoPlan["lasting"]) => {
    const shown = calls.map(({ callPath, tool, args }) => `  ${callLabel(callPath)}: ${tool} ${JSON.stringify(args)}`);
    return shown.length > 0 ? [`not taken back, since ${why}:`, ...shown] : [];
  };
  const notes = [
    ...toRows(
      "nothing is kept of what they replaced",
      lasting.filter(({ isOfFile }) => isOfFile),
    ),
    ...toRows(
      "nothing is kept of what was before",
      lasting.filter(({ isOfFile }) => !isOfFile),
    ),
  ];
  return renderLines(
    [head, ...rows, ...notes, ...(isDone ? [summarize(files, lasting.length)] : [])],
    diffs ? undefined : columns,
  );
}

function summarize(files: readonly UndoneFile[], calls: number): string {
  const count = (...actions: readonly UndoneFile["action"][]) => files.filter(({ action }) => actions.includes(action)).length;
  const left = count("changed", "not-kept", "outside", "program", "failed");
  const parts = [
    ...[`${count("restore")} restored`, `${count("remove")} removed`],
    ...[`${count("same")} as they were`, `${left} left`].filter((part) => !part.startsWith("0 ")),
  ];
  const stays = calls > 0 ? `; what ${counted(calls, "call")} did besides stays` : "";
  return `done: ${parts.join(", ")}${stays}`;
}

/** The most rows of a diff. */
const mostRows = 40;

function diffRows({ path, now, before }: UndoneFile, columns: number): readonly string[] {
  const [old, next] = [now, before].map((content) => textOf(content ?? new Uint8Array()));
  if (old === undefined || next === undefined) return ["    (not text)"];
  const lines = runSteps(renderDiff(path, old, next));
  return new PreviewRows(lines, { columns, style: (_, text) => text }).take(mostRows).rows;
}

function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}
