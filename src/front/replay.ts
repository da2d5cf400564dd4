import { compareRuns, type RunDifference } from "../effects/compare-runs.ts";
import { placeInstruction, type ReadSource, type SourcePlace } from "../effects/place-change.ts";
import { type ChangedVerdict, createReplayedEffects, type Drift } from "../effects/policies/replayed.ts";
import { standingFacts } from "../effects/standing.ts";
import type { Host } from "../host/host.ts";
import { createUntouchedHost } from "../host/untouched-host.ts";
import type { RunRecord } from "../journal/read-journal.ts";
import type { Program, Worker } from "../program/program.ts";
import type { ApprovalMode, ApprovalRule } from "../protocol/approval.ts";
import { type CallPath, parentCallPath } from "../protocol/call.ts";
import type { EventSink } from "../protocol/event.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { RunSetup } from "../runtime/config.ts";
import { type RunResult, runEntry, unattended } from "../runtime/run-entry.ts";
import { RunError } from "../runtime/run-error.ts";
import { environmentSecrets, Redactor, type Secret } from "../util/secrets/redactor.ts";
import { version } from "../version.ts";

/** The outcome of a replay. */
export interface ReplayReport {
  readonly runId: string;
  /**
   * True if the program of today does what was recorded. Each call is judged by today's rules; outcomes and answers are taken from the
   * record. A run whose journal has no end never has an equal.
   */
  readonly same: boolean;
  /** The first difference of each call. */
  readonly differences: readonly RunDifference[];
  /** Effects that are different today, and were answered from the record all the same. */
  readonly drifts: readonly PlacedDrift[];
  /** Calls that would be allowed, asked or blocked otherwise today, in the order of the replay. */
  readonly verdicts: readonly ChangedVerdict[];
  /** Absent if the run fails. */
  readonly result?: RunResult;
  readonly error?: RunError;
}

/** A drift, with the place of the text that made it. */
export interface PlacedDrift extends Drift {
  readonly place?: SourcePlace;
}

export interface RecordedRun extends Pick<RunRecord, "facts" | "secrets"> {
  /** The real one: its environment says which values are secrets. Nothing else of it is touched but the clock. */
  readonly host: Pick<Host, "environment" | "clock">;
  /** The keys that the user has stored. Default: none. */
  readonly stored?: readonly Secret[];
  readonly debug?: boolean;
  /** Rules of today beside those that the program was compiled with. Default: none. */
  readonly rules?: readonly ApprovalRule[] | undefined;
  /** Reads a source of the program, by its path in the program's folder, to name places of changes. Default: none is named. */
  readonly readSource?: ReadSource;
  readonly onEvent?: EventSink;
}

/**
 * Plays a recorded run again: every call is entered, and each effect is answered from the record, on a host that throws on any
 * touch and whose scopes are empty. Code that makes calls (entries, tools with `calls`, and the toolsets that these open) runs as
 * it is. Throws an `Error` if the record does not begin with the start of a run.
 */
export async function replayFacts(
  program: Program,
  { host, stored = [], facts, secrets, debug = false, rules = [], readSource, onEvent }: RecordedRun,
): Promise<ReplayReport> {
  const [start] = facts;
  if (start?.type !== "run-start") throw new Error("nothing is recorded of this run: it ended before it began");
  const { facts: standing, attempt } = standingFacts(facts);
  const { runId } = start;
  const { mode, onDenied, onUnanswered, limits } = attempt ?? start;
  const redactor = new Redactor([...environmentSecrets(host.environment), ...stored, ...program.secrets], secrets);
  const effects = createReplayedEffects(facts, host.clock);
  const setup = {
    ...{ runId, effects, redactor, limits, version, debug, streaming: false, onEvent, onMessage: undefined },
    host: createUntouchedHost(),
    policy: {
      ...{ mode: mode as ApprovalMode, onDenied, gateEntry: start.gateEntry === true },
      rules: [...program.rules, ...rules],
      ...(onUnanswered ? { onUnanswered } : {}),
    },
    ...withoutModels,
  };
  const outcome = await play(program, setup, start);
  const terms = { mode, onDenied, onUnanswered, limits };
  const asContinued = (fact: Fact): Fact => (fact.type === "run-start" ? ({ ...fact, ...terms } as Fact) : fact);
  // A token that could not be restored equals the secret that it stands for.
  const differences = compareRuns(redactor.toDigestForm(standing.map(asContinued)), redactor.toDigestForm(effects.facts));
  const workerAt = workersOf(effects.facts, program);
  const drifts: PlacedDrift[] = [];
  for (const drift of redactor.toDigestForm(effects.drifts)) {
    const worker = workerAt(drift.callPath);
    drifts.push(worker && readSource ? await placeDrift(drift, `${worker.id}.worker`, readSource) : drift);
  }
  drifts.push(...changedSkills(standing, (callPath) => workerAt(parentCallPath(callPath))));
  return {
    runId,
    same: differences.length === 0 && drifts.length === 0 && effects.verdicts.length === 0,
    differences,
    drifts,
    verdicts: redactor.toDigestForm(effects.verdicts),
    ...outcome,
  };
}

/** Takes the place of providers and their prices. */
const withoutModels = {
  resolveModel: () => Promise.reject(new Error("invariant: a replayed run asks no model")),
  // The cost of a request is in its recorded outcome.
  priceOf: async () => () => ({ usd: 0, isAtLeast: false }),
  windowOf: async () => undefined,
};

async function play(
  program: Program,
  setup: RunSetup,
  { input: given, history = [] }: FactOf<"run-start">,
): Promise<Pick<ReplayReport, "result" | "error">> {
  const { input, files, fragments } = given;
  try {
    return { result: await runEntry(program, setup, { input: input as JsonObject, files, fragments, history, ...unattended }) };
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown;
    return { error: thrown };
  }
}

/** Finds the worker of a call in these facts. */
function workersOf(facts: readonly Fact[], program: Program): (callPath?: CallPath) => Worker | undefined {
  const names = new Map(facts.flatMap((fact) => (fact.type === "call-start" ? [[fact.callPath, fact.name] as const] : [])));
  return (callPath = "") => program.get(names.get(callPath) ?? "");
}

/** Files of skills that have another content than the run read: their texts are taken from the record. */
function changedSkills(recorded: readonly Fact[], workerOf: (callPath: CallPath) => Worker | undefined): readonly Drift[] {
  return recorded.flatMap((fact) => {
    if (fact.type !== "verdict" || typeof fact.facts["pinned"] !== "string") return [];
    const { callPath, key, facts } = fact;
    const path = String(facts["path"]);
    const scope = workerOf(callPath)?.scopes.find(({ name }) => name === facts["scope"]);
    if (!scope || scope.pinned?.[path.slice(scope.name.length + 1)] === facts["pinned"]) return [];
    return [{ callPath, key, kind: "tool", today: {}, change: `${path}, a file of a skill, is another one than it read` }];
  });
}

async function placeDrift(drift: Drift, file: string, readSource: ReadSource): Promise<PlacedDrift> {
  const place = drift.instruction && (await placeInstruction(drift.instruction, file, readSource));
  return place ? { ...drift, place } : drift;
}
