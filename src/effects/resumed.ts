import type { Clock } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import { type CallPath, isAtOrBelow } from "../protocol/call.ts";
import type { Fact, FactKey, FactOf, KeyedFactType } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import type { Effect, EffectRecord, Effects } from "./effects.ts";
import { roundOfQuestion, toolKey } from "./keys.ts";
import { createLiveEffects } from "./live.ts";
import { createFinder, idOf, standingFacts } from "./standing.ts";

/** A request that is not the recorded one: the program, or what it computes, is different today. */
export class RequestChanged extends Error {
  /** As it was recorded; undefined where its result alone is. */
  readonly recorded: FactOf<"intent"> | undefined;
  readonly today: EffectRecord;

  constructor(recorded: FactOf<"intent"> | undefined, today: EffectRecord) {
    super(`${today.key} of ${today.callPath} is not what was recorded`);
    this.name = "RequestChanged";
    this.recorded = recorded;
    this.today = today;
  }
}

export interface ResumedOptions {
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  /** Takes the new facts, after the recorded ones. */
  readonly journal: Journal;
  /** All facts of the run so far, each at its number, the `attempt` of this continuation last; with the content of their blobs. */
  readonly recorded: readonly Fact[];
  /** When each was recorded. */
  readonly times: readonly number[];
}

/**
 * Goes on with a recorded run: an effect whose outcome stands is answered from the record, every other one from the world, and
 * recorded. What is recorded already is not recorded again.
 */
export function createResumedEffects({ clock, journal, recorded, times }: ResumedOptions): Effects {
  const record = indexRecord(recorded);
  const { standing, find } = record;
  /** Calls with facts of this attempt. */
  const fresh = new Set<CallPath>();
  const judged = new Map<string, string>();
  /** Rounds whose call is another one than it was. */
  const renewed = new Set<string>();
  const append = (fact: Fact): void => {
    if (fact.type === "result" && fact.kind === "connect" && offersSame(fact, find("result", fact))) return;
    if (fact.type === "run-end") fresh.add(record.entry);
    if ("callPath" in fact) fresh.add(fact.callPath);
    journal.append(fact);
  };
  const live = createLiveEffects({
    clock,
    journal: { append, written: (how) => journal.written(how), close: () => journal.close() },
  });
  const stands = new Set(standing.values());
  for (const fact of recorded) (stands.has(fact) || fact.type === "revocation" ? live.state.apply : live.state.spend)(fact);
  const isKnown = (fact: Fact): boolean => {
    if (fact.type === "verdict") judged.set(`${fact.callPath}\n${fact.key}`, fact.asked ?? fact.digest);
    if (fact.type === "run-start") return true;
    const known = standing.get(idOf(fact));
    // Code that is entered again may have further effects from here on.
    if (known && fact.type === "call-start") return fact.kind === "worker";
    const isSame = known !== undefined && canonicalJson(known) === canonicalJson(fact);
    if (fact.type === "verdict" && !isSame) renewed.add(`${fact.callPath}\n${fact.key}`);
    return isSame && !(fact.type === "grant" && renewed.has(`${fact.callPath}\n${fact.key}`));
  };
  /** Holds for a call that is as it was when it was answered. */
  const isAnswered = (key: FactKey): boolean =>
    find("decision", key) !== undefined &&
    (record.isRestored(key) || judged.get(`${key.callPath}\n${key.key}`) === record.digestOfDecision(key));
  const recall = <Type extends KeyedFactType>(type: Type, key: FactKey): FactOf<Type> | undefined => {
    if ((type === "verdict" || type === "grant") && !record.isRestored(key)) return undefined;
    if (type === "decision" && !isAnswered(key)) return undefined;
    const question = type === "intent" ? roundOfQuestion(key.key) : undefined;
    if (question !== undefined && !(find("result", key) && isAnswered({ ...key, key: question }))) return undefined;
    return find(type, key);
  };
  const perform = async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const { kind, digest } = effect.record;
    const [found, intent] = [find("result", effect.record), find("intent", effect.record)];
    // A connection does not outlive its process. Definitions that differ make a request differ.
    if (!found || found.outcome.type === "interrupted" || kind === "connect") return live.perform(effect, signal);
    if ((found.digest ?? intent?.digest) !== digest) {
      if (kind === "question" || kind === "tool") return live.perform(effect, signal);
      throw new RequestChanged(intent, effect.record);
    }
    if (found.outcome.type === "error") throw effect.codec.decodeError?.(found.outcome.error);
    return effect.codec.decode(found.outcome.value);
  };
  return Object.freeze<Effects>({
    ...live,
    record: (fact) => {
      if (!isKnown(fact)) live.record(fact);
    },
    recordDurably: async (fact) => {
      if (!isKnown(fact)) await live.recordDurably(fact);
    },
    perform,
    recall,
    checkLimit: (key, check) => find("limit", key) ?? (find("result", key) ? undefined : live.checkLimit(key, check)),
    recallStart: (callPath) => standing.get(idOf({ type: "call-start", callPath } as Fact)) as FactOf<"call-start"> | undefined,
    recallEnd: (callPath) => standing.get(idOf({ type: "call-end", callPath } as Fact)) as FactOf<"call-end"> | undefined,
    waitToRetry: async (milliseconds, next, signal) => {
      if (!find("intent", next)) await live.waitToRetry(milliseconds, next, signal);
    },
    begun: (key) => record.begun(key),
    isReplayed: (callPath) => record.paths.has(callPath) && !fresh.has(callPath),
    startTimer: (milliseconds, expire, limit) =>
      live.startTimer(Math.max(0, milliseconds - (limit ? elapsed(recorded, times, limit.callPath) : 0)), expire),
  });
}

/** True for a connection that was made again and offers what it did: its record stays where it is. */
function offersSame({ outcome }: FactOf<"result">, known: FactOf<"result"> | undefined): boolean {
  const [today, before] = [outcome, known?.outcome].map((one) =>
    one?.type === "value" && isRecord(one.value) ? one.value["fingerprint"] : undefined,
  );
  return today !== undefined && today === before;
}

/**
 * The recorded time of a call and everything below it, in milliseconds. The time between two attempts is none of it, nor
 * the time before an answer in which nothing else was recorded.
 */
function elapsed(recorded: readonly Fact[], times: readonly number[], callPath: CallPath): number {
  let sum = 0;
  let first: number | undefined;
  for (const [index, fact] of recorded.entries()) {
    const time = times[index] ?? 0;
    if (fact.type === "attempt") first = undefined;
    if (fact.type === "answer") continue;
    if (!("callPath" in fact) || !isAtOrBelow(fact.callPath, callPath)) continue;
    const isAnswered = fact.type === "result" && fact.kind === "question";
    if (first !== undefined && !isAnswered) sum += time - first;
    first = time;
  }
  return sum;
}

/** `1`, or `main server:web_search 2`: the round of a call, with what tells it from others of the same path. */
const roundPattern = /^(|.* )(\d+)$/s;

function indexRecord(recorded: readonly Fact[]) {
  const { facts } = standingFacts(recorded);
  const standing = new Map(facts.map((fact) => [idOf(fact), fact]));
  const find = createFinder(facts);
  const [start] = recorded;
  const rounds = new Map<string, number>();
  const digests = new Map<string, string>();
  const decided = new Map<string, string | undefined>();
  for (const fact of recorded) {
    if (fact.type !== "verdict" && fact.type !== "decision" && fact.type !== "refusal") continue;
    const id = `${fact.callPath}\n${fact.key}`;
    if (fact.type === "verdict") digests.set(id, fact.asked ?? fact.digest);
    if (fact.type === "decision") decided.set(id, digests.get(id));
    const { call, number } = roundOf(fact);
    rounds.set(call, Math.max(number, rounds.get(call) ?? 0));
  }
  const hasEffect = ({ callPath, prefix }: Round): boolean =>
    find("result", { callPath, key: toolKey(prefix) }) !== undefined ||
    (prefix === "" && standing.has(`call-start\n${callPath}\n`) && !isApproved(callPath));
  /** True for a worker that goes on, and was asked for: its question is compared with that of today. */
  const isApproved = (callPath: CallPath): boolean => {
    const begun = standing.get(`call-start\n${callPath}\n`) as FactOf<"call-start"> | undefined;
    if (begun?.kind !== "worker" || standing.has(`call-end\n${callPath}\n`)) return false;
    return find("verdict", { callPath, key: `${rounds.get(`${callPath}\n`) ?? 1}` })?.verdict.type === "ask";
  };
  /** True for a round that has come to its end: nothing of it is looked at again. */
  const isRestored = ({ callPath, key }: FactKey): boolean => {
    const round = roundOf({ callPath, key });
    const decision = find("decision", { callPath, key })?.decision;
    const isLeft = decision?.type === "deny" || (decision?.type === "approve" && decision.args !== undefined);
    if (isLeft || hasEffect(round) || round.number < (rounds.get(round.call) ?? 0)) return true;
    return find("refusal", { callPath, key }) !== undefined || find("verdict", { callPath, key })?.verdict.type === "blocked";
  };
  return {
    standing,
    find,
    entry: start?.type === "run-start" ? start.entry : "",
    paths: new Set(facts.flatMap((fact) => ("callPath" in fact ? [fact.callPath] : []))),
    isRestored,
    digestOfDecision: ({ callPath, key }: FactKey) => decided.get(`${callPath}\n${key}`),
    /** The last look at a call that has begun, and of whose end nothing stands. */
    begun: ({ callPath, key: prefix }: FactKey): FactOf<"verdict"> | undefined => {
      const leaf = { callPath, key: toolKey(prefix) };
      const isLeaf = find("intent", leaf)?.sideEffect === true && !find("result", leaf);
      const code = prefix === "" ? (standing.get(`call-start\n${callPath}\n`) as FactOf<"call-start"> | undefined) : undefined;
      const isCode = code?.kind === "tool" && !standing.has(`call-end\n${callPath}\n`);
      if (!isLeaf && !isCode) return undefined;
      const round = rounds.get(`${callPath}\n${prefix}`) ?? 1;
      return find("verdict", { callPath, key: `${prefix}${round}` });
    },
  };
}

interface Round {
  readonly callPath: CallPath;
  readonly prefix: string;
  readonly number: number;
  readonly call: string;
}

function roundOf({ callPath, key }: FactKey): Round {
  const [, prefix = key, number = "0"] = roundPattern.exec(key) ?? [];
  return { callPath, prefix, number: Number(number), call: `${callPath}\n${prefix}` };
}
