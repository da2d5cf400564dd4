import { createNodeHost } from "../../../host/node-host.ts";
import { expandTexts } from "../../../journal/expand-texts.ts";
import { readJournal } from "../../../journal/read-journal.ts";
import type { RecordReader } from "../../../journal/stores/record-place.ts";
import { runOutcomes } from "../../../protocol/call.ts";
import type { JournalEntry } from "../../../protocol/fact.ts";
import { show } from "../../../ui/explain/phrases.ts";
import { type ListedRun, listRun, renderListedRun, renderTotal } from "../../../ui/records/list-run.ts";
import { renderCosts } from "../../../ui/records/render-costs.ts";
import { renderJournal, summarizeJournal } from "../../../ui/records/render-journal.ts";
import { renderMessages } from "../../../ui/records/render-messages.ts";
import { commandLine, commandName } from "../../command-name.ts";
import { UsageError } from "../../exit-codes.ts";
import { renderJson, renderJsonLine, writeResult, writeStderr } from "../../output.ts";
import { describeNoProgram, type FoundRun, findRun, storeOfUser, streamRuns, takeFirst } from "../../records/find-runs.ts";
import { describeNext } from "../../records/next-steps.ts";

export interface RunsFlags {
  readonly json?: boolean;
}

export interface ListFlags extends RunsFlags, RunFilter {
  /** The most runs. */
  readonly number?: number;
}

export interface ShowFlags extends RunsFlags {
  readonly messages?: boolean;
  readonly costs?: boolean;
}

/** Which runs are listed. Absent members choose all. */
export interface RunFilter {
  readonly program?: string;
  readonly outcome?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since?: number;
  /** A part of the model's name. */
  readonly model?: string;
  /** A text in a prompt, an input or an answer, in any case. */
  readonly search?: string;
}

/** The default number of runs that a list shows a person. */
const latest = 20;

/** `llm-do runs list`: the latest runs of a program, or of this user, oldest first. */
export async function listRunsCommand(target: string | undefined, { json, number, ...filter }: ListFlags): Promise<number> {
  const most = number ?? (json && target !== undefined ? undefined : latest);
  const [runs, hasMore] = await describeRuns(target, most, filter);
  if (json) await writeResult(renderJson({ v: 1, runs }));
  else if (runs.length === 0)
    writeStderr(
      `llm-do: no ${Object.keys(filter).length > 0 ? "such " : ""}runs${target === undefined ? "" : ` of ${target}${await describeNoProgram(target)}; \`${commandName()} runs list\` lists those of all programs`}\n`,
    );
  else await writeResult(runs.map((run) => renderListedRun(run, process.stdout.columns || Number.POSITIVE_INFINITY)).join(""));
  if (!json && runs.length > 1) writeStderr(`llm-do: ${renderTotal(runs)}\n`);
  if (!json && hasMore && number === undefined) writeStderr(`llm-do: these are the latest ${latest}; -n lists more\n`);
  const newest = runs.at(-1);
  if (!json && newest && newest.outcome !== "done") await nameNext(await findRun({ run: newest.runId, takesForeign: true }));
  if (!json && (target === undefined || runs.length === 0)) await nameMoved();
  if (!json && target !== undefined) await nameImported(new Set(runs.map(({ runId }) => runId)));
  return 0;
}

/** Names folders of programs that are gone, and whose records are there. */
async function nameMoved(): Promise<void> {
  const { files } = createNodeHost();
  for (const root of await storeOfUser().roots()) {
    if ((await files.kind(root)) !== undefined) continue;
    writeStderr(
      `llm-do: ${show(root)} is gone, and its records are here: \`${commandName()} runs move OLD NEW\` gives them its new folder\n`,
    );
  }
}

/** Names the newest imported run that a program's list leaves out: its record belongs to a folder elsewhere. */
async function nameImported(listed: ReadonlySet<string>): Promise<void> {
  for await (const { runId, root } of streamRuns(undefined, true)) {
    if (listed.has(runId)) continue;
    const adopt = commandLine("runs", "adopt", runId);
    writeStderr(`llm-do: ${runId} was imported, and is of ${show(root)}: \`${adopt}\` makes it one of the program here\n`);
    return;
  }
}

/** The last runs of a program, or of this user, oldest first, and whether there are more. Default for `most`: all. */
export async function describeRuns(
  target: string | undefined,
  most = Number.POSITIVE_INFINITY,
  filter: RunFilter = {},
): Promise<readonly [readonly ListedRun[], boolean]> {
  const runs = await takeFirst(describeFitting(target, filter), most + 1);
  return [runs.slice(0, most).reverse(), runs.length > most];
}

async function* describeFitting(target: string | undefined, filter: RunFilter): AsyncIterable<ListedRun> {
  for await (const found of newestFirst(streamRuns(target), streamRuns(target, true))) {
    const run = describeRun(found);
    if (fits(run, filter) && (filter.search === undefined || (await holds(found, filter.search)))) yield run;
  }
}

/** Merges two lists that begin with the newest, and reads no more of them than is taken. */
async function* newestFirst(own: AsyncIterable<FoundRun>, foreign: AsyncIterable<FoundRun>): AsyncIterable<FoundRun> {
  const others = [...(await takeFirst(foreign))];
  for await (const run of own) {
    while (others[0] && (others[0].began ?? 0) > (run.began ?? 0)) yield others.shift() as FoundRun;
    yield run;
  }
  yield* others;
}

function fits(run: ListedRun, { program, outcome, since, model }: RunFilter): boolean {
  if (program !== undefined && run.program !== program) return false;
  const hadDenial = outcome?.includes("denied") && (run.denied ?? 0) > 0;
  if (outcome && !outcome.includes(run.outcome) && !hadDenial) return false;
  if (since !== undefined && !(run.startedAt !== undefined && Date.parse(run.startedAt) >= since)) return false;
  return model === undefined || (run.model?.includes(model) ?? false);
}

/** Searches what models were given and what they answered. A run that cannot be read holds nothing. */
async function holds({ runId, store }: FoundRun, text: string): Promise<boolean> {
  const entries = await store.look(runId, readExpanded).catch(() => []);
  return hasText(entries.flatMap(spokenOf), text.toLowerCase());
}

/** In bytes: of one text, and of all texts that are kept beside a journal. */
const bounds = { longest: 2_000_000, total: 50_000_000 };

async function readExpanded(record: RecordReader): Promise<readonly JournalEntry[]> {
  const { version, entries } = await readJournal(record);
  return version === 1 ? [] : expandTexts(record, { ...bounds, entries });
}

function spokenOf(entry: JournalEntry): readonly unknown[] {
  if (entry.type === "run-start" || entry.type === "call-start") return [entry.input];
  if (entry.type === "run-end") return [entry.output];
  if (entry.type === "intent" && entry.kind === "model") return [entry.detail["messages"]];
  return entry.type === "result" && entry.kind === "model" && entry.outcome.type === "value" ? [entry.outcome.value] : [];
}

function hasText(value: unknown, text: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(text);
  return typeof value === "object" && value !== null && Object.values(value).some((member) => hasText(member, text));
}

/** `llm-do runs show RUN`: how far a run got. `last` is the newest, without a target of all programs. */
export async function showRunCommand(run: string, target: string | undefined, flags: ShowFlags): Promise<number> {
  const { json, messages, costs } = flags;
  const found = await findRun({ run, target });
  await found.store.look(found.runId, async (record) => {
    const contents = await readJournal(record);
    await writeResult(
      json ? contents.entries.map(renderJsonLine).join("") : renderJournal(contents, process.stdout.columns || 80),
    );
    if (json) return;
    if ((costs || messages) && contents.version === 1)
      throw new UsageError("--costs and --messages are for journals of version 2 and 3: this one is of an older llm-do");
    if (costs) await writeResult(renderCosts(contents.entries));
    if (messages) await writeResult(renderMessages(await expandTexts(record, { ...bounds, entries: contents.entries })));
  });
  if (!json) await nameNext(found);
  return 0;
}

async function nameNext(found: FoundRun): Promise<void> {
  const next = await describeNext(found);
  if (next !== undefined) writeStderr(`llm-do: ${next}\n`);
}

/** Describes a run for a list. */
export function describeRun({ runId, root, ends = { version: 2 }, problem, isForeign, waits }: FoundRun): ListedRun {
  const named = { runId, folder: root, ...(isForeign ? { foreign: true as const } : {}) };
  if (problem !== undefined) return { ...named, outcome: "unreadable", summary: `unreadable: ${problem}` };
  if (ends.version === 1) return { ...named, outcome: "old", summary: summarizeJournal(ends) };
  const listed = listRun(ends);
  if (waits === undefined || listed.outcome === "done") return { ...named, ...listed };
  return { ...named, ...listed, outcome: runOutcomes.find((one) => waits.startsWith(one)) ?? listed.outcome, summary: waits };
}
