import type { JournalEntry } from "../protocol/fact.ts";
import type { JsonValue } from "../protocol/json.ts";
import { noUsage, type Taken, takenNames, takenOf } from "../protocol/usage.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";

/** What a run did, as far as two runs can be compared. */
export interface RunFigures extends Taken {
  readonly runId: string;
  /** `done`, or another reason to stop; `unfinished` where it did not end. */
  readonly outcome: string;
  /** Null where there is none. */
  readonly output: JsonValue;
  /** Calls of tools and workers. */
  readonly toolCalls: number;
  readonly denied: number;
  /** Wall-clock time, in seconds, with that in which it waited for a person. */
  readonly seconds: number;
}

export interface RunsComparison {
  readonly first: RunFigures;
  readonly second: RunFigures;
  readonly sameOutcome: boolean;
  readonly sameOutput: boolean;
  /** Calls of tools and workers, as `read_file {"path":"a.txt"}`, that one of the two made more often, with both counts. */
  readonly calls: readonly { readonly call: string; readonly first: number; readonly second: number }[];
}

/** Compares two runs by their journals, whose texts are in their places. Times are shown by both, and never a difference. */
export function compareRuns(first: readonly JournalEntry[], second: readonly JournalEntry[]): RunsComparison {
  const [one, other] = [figuresOf(first), figuresOf(second)];
  const [before, after] = [callsOf(first), callsOf(second)];
  const calls = [...new Set([...before.keys(), ...after.keys()])].map((call) => ({
    call,
    first: before.get(call) ?? 0,
    second: after.get(call) ?? 0,
  }));
  return {
    ...{ first: one, second: other },
    sameOutcome: one.outcome === other.outcome,
    sameOutput: withoutTokens(one.output) === withoutTokens(other.output),
    calls: calls.filter((call) => call.first !== call.second),
  };
}

/**
 * Names what the second run did otherwise: its outcome, output, calls and denials, and where it took more requests, tokens or dollars than
 * the first by more than `tolerance`, a share. A price that only one of them has is a difference, too.
 */
export function beyondTolerance({ first, second, ...found }: RunsComparison, tolerance: number): readonly string[] {
  const isBeyond = (one: number | undefined, other: number | undefined) =>
    one === undefined || other === undefined ? one !== other : other > one * (1 + tolerance);
  return [
    ...(found.sameOutcome ? [] : ["outcome"]),
    ...(found.sameOutput ? [] : ["output"]),
    ...(found.calls.length > 0 ? ["calls"] : []),
    ...(first.denied === second.denied ? [] : ["denied"]),
    ...takenNames.filter((name) => isBeyond(first[name], second[name])),
  ];
}

/** Looks at a run's journal, whose texts are in their places. */
export function figuresOf(entries: readonly JournalEntry[]): RunFigures {
  const start = entries.find((entry) => entry.type === "run-start");
  const end = entries.findLast((entry) => entry.type === "run-end");
  const toolCalls = [...callsOf(entries).values()].reduce((sum, count) => sum + count, 0);
  const times = entries.map(({ time }) => time);
  return {
    runId: start?.runId ?? "",
    outcome: end?.stopReason ?? "unfinished",
    output: end?.output ?? null,
    ...takenOf(end?.usage ?? noUsage),
    toolCalls,
    denied: end?.denied ?? 0,
    seconds: times.length > 0 ? ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000 : 0,
  };
}

/** How often each call was asked for. */
function callsOf(entries: readonly JournalEntry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    if (entry.type !== "verdict") continue;
    const call = `${entry.tool} ${withoutTokens(entry.args)}`;
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return counts;
}

/** One secret has another token in each run. */
export function withoutTokens(value: JsonValue): string {
  return canonicalJson(value).replace(/⟦secret:[^⟧]*⟧/g, "⟦secret⟧");
}
