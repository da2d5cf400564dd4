import type { JournalEnds } from "../../journal/read-journal.ts";
import type { RunOutcome } from "../../protocol/call.ts";
import type { FactOf } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Usage } from "../../protocol/usage.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { renderCost } from "../render-usage.ts";
import { modelLabel } from "../text/model-label.ts";
import { renderLines } from "../text/render-lines.ts";
import { summarizeJournal } from "./render-journal.ts";

/** A run as `runs list --json` has it. Members that its journal does not have are absent. */
export interface ListedRun {
  readonly runId: string;
  /** The program's folder. */
  readonly folder: string;
  readonly outcome: RunOutcome;
  /** In one line, for a person. */
  readonly summary: string;
  readonly program?: string;
  readonly entry?: string;
  /** ISO 8601, UTC. */
  readonly startedAt?: string;
  /** From the first to the last entry, with the time that the run waited for answers. */
  readonly milliseconds?: number;
  /** The entry's. */
  readonly model?: string;
  /** The beginning of the prompt, or of the input as JSON. Secret values are tokens. */
  readonly prompt?: string;
  readonly usage?: Usage;
  /** Calls that were denied. */
  readonly denied?: number;
  /** True if what it wrote was taken back. */
  readonly undone?: boolean;
  /** Its record came from elsewhere. */
  readonly foreign?: boolean;
}

/** In UTF-16 units. */
const longestPrompt = 100;

/** Describes a run by the ends of its journal. */
export function listRun(ends: JournalEnds): Omit<ListedRun, "runId" | "folder" | "foreign"> {
  const { first, entryCall, last } = ends;
  const summary = summarizeJournal(ends);
  if (first?.type !== "run-start" || !last) return { outcome: "empty", summary };
  const model = entryCall?.type === "call-start" ? entryCall.model : undefined;
  const prompt = promptOf(first);
  return {
    outcome: last.type === "run-end" ? last.stopReason : last.type === "answer" ? "suspended" : "unfinished",
    summary,
    program: first.program,
    entry: first.entry,
    startedAt: new Date(first.time).toISOString(),
    milliseconds: last.time - first.time,
    ...(model === undefined ? {} : { model }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(ends.undone ? { undone: true } : {}),
    ...(last.type === "run-end" ? { usage: last.usage, denied: last.denied } : {}),
  };
}

/** Long texts are kept beside the journal, and not read here. */
function promptOf({ input: { input: fields } }: FactOf<"run-start">): string | undefined {
  if (!isRecord(fields) || Object.keys(fields).length === 0) return undefined;
  const [text] = Object.keys(fields).length === 1 ? Object.values(fields) : [fields];
  if (isRecord(text) && typeof text["$blob"] === "string") return `(${String(text["bytes"])} bytes)`;
  return clipText(typeof text === "string" ? text : JSON.stringify(text), longestPrompt);
}

/** Renders a run in two lines: its end, then its program, model, time, cost and prompt. */
export function renderListedRun({ runId, summary, foreign, ...run }: ListedRun, columns: number): string {
  const { program, model, milliseconds, usage, prompt } = run;
  const facts = [
    ...(program === undefined ? [] : [program]),
    ...(model === undefined ? [] : [modelLabel(model)]),
    ...(milliseconds === undefined ? [] : [`${(milliseconds / 1000).toFixed(1)} s from start to end`]),
    ...(usage?.usd === undefined ? [] : [renderCost({ usd: usage.usd, usdAtLeast: usage.usdAtLeast }) ?? ""]),
  ];
  const said = prompt === undefined ? "" : `: ${prompt}`;
  const lines = [
    `${runId}  ${foreign ? "from elsewhere: " : ""}${summary}`,
    ...(facts.length > 0 ? [`  ${facts.join(", ")}${said}`] : []),
  ];
  return renderLines(lines, columns);
}

/** `12 runs, $3.20`: the dollars of those whose cost is known. */
export function renderTotal(runs: readonly ListedRun[]): string {
  const known = runs.flatMap(({ usage }) => (usage?.usd === undefined ? [] : [usage]));
  const usd = known.reduce((sum, usage) => sum + (usage.usd ?? 0), 0);
  const usdAtLeast = known.length < runs.length || known.some((usage) => usage.usdAtLeast === true);
  return `${runs.length} runs, ${renderCost({ usd, ...(usdAtLeast ? { usdAtLeast } : {}) }) ?? "no cost"}`;
}
