import type { CallPath } from "../protocol/call.ts";
import type { Fact, FactKey, FactOf, KeyedFactType } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { withoutFileContent } from "../util/without-file-content.ts";
import type { Effect, EffectRecord, Effects } from "./effects.ts";
import { RequestChanged } from "./resumed.ts";
import { idOf } from "./standing.ts";

/** Decides which tools are executed while a recording answers the rest. */
export type RunsForReal = (tool: string) => boolean;

export interface RecordedOptions {
  /** Does what no recording answers: questions, real tools, and all bookkeeping. */
  readonly live: Effects;
  /** Facts as `createRecordingFilter` chose them. */
  readonly recording: readonly Fact[];
  readonly runsForReal: RunsForReal;
  /** Brings a request into the form of the recording. */
  readonly redact: <T>(value: T) => T;
}

/**
 * Answers model requests, connections, steps of code and tools from a recording, and everything else live. A request that the recording
 * does not hold, or holds otherwise, ends the run with a `RequestChanged`.
 */
export function createRecordedEffects({ live, recording, runsForReal, redact }: RecordedOptions): Effects {
  const known = new Map(recording.map((fact) => [recordedId(fact), fact]));
  const find = <Type extends KeyedFactType>(type: Type, key: FactKey) =>
    known.get(recordedId({ type, ...key } as Fact)) as FactOf<Type> | undefined;
  const tools = new Map<CallPath, string>();
  const isLive = ({ kind, callPath }: EffectRecord): boolean =>
    kind === "question" ||
    (kind === "connect" && runsForReal("*")) ||
    (kind === "tool" && runsForReal(tools.get(callPath) ?? ""));
  const perform = async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const { announced, detail, ...identity } = effect.record;
    const { callPath, key, kind, digest, sideEffect } = identity;
    if (isLive(effect.record)) return live.perform(effect, signal);
    const [found, intent] = [find("result", effect.record), find("intent", effect.record)];
    const isSame = kind === "connect" || (found?.digest ?? intent?.digest) === digest;
    if (!found || found.outcome.type === "interrupted" || !isSame)
      throw new RequestChanged(intent, { ...effect.record, detail: redact(withoutFileContent(detail)) as JsonObject });
    const isAnnounced = sideEffect || announced;
    if (isAnnounced) live.record({ type: "intent", ...identity, detail });
    live.record({ type: "result", callPath, key, kind, ...(isAnnounced ? {} : { digest }), outcome: found.outcome });
    if (found.outcome.type === "error") throw effect.codec.decodeError?.(found.outcome.error);
    return effect.codec.decode(found.outcome.value);
  };
  return Object.freeze<Effects>({
    ...live,
    perform,
    record: (fact) => {
      if (fact.type === "verdict") tools.set(fact.callPath, fact.tool);
      live.record(fact);
    },
    // Parallel chains of code get the paths that they had.
    recall: (type, key) => (type === "code-call" ? find(type, key) : live.recall(type, key)),
    waitToRetry: async (_milliseconds, _next, signal) => signal.throwIfAborted(),
  });
}

/** A connection is found without the digest of its configuration, which can hold a path of the machine. */
function recordedId(fact: Fact): string {
  const id = idOf(fact);
  return id.includes("\nconnect ") ? id.split(" ", 2).join(" ") : id;
}

function effectOf({ callPath, key }: FactKey): string {
  return `${callPath}\n${key}`;
}

/**
 * Chooses the facts that make a recording, from those of a run as they come. Results of tools that run for real are left out, and the
 * content of files in requests.
 */
export function createRecordingFilter(runsForReal: RunsForReal): (fact: Fact) => Fact | undefined {
  const tools = new Map<CallPath, string>();
  /** Digests of the effects that are under way: an announced one has its own in its intent alone. */
  const digests = new Map<string, string>();
  return (fact) => {
    if (fact.type === "verdict") tools.set(fact.callPath, fact.tool);
    if (fact.type === "code-call") return fact;
    if (fact.type === "intent") digests.set(effectOf(fact), fact.digest);
    if (fact.type === "intent" && fact.kind === "model")
      return { ...fact, detail: withoutFileContent(fact.detail) as JsonObject };
    if (fact.type !== "result" || fact.kind === "question" || fact.outcome.type === "interrupted") return undefined;
    if (fact.kind === "connect" && runsForReal("*")) return undefined;
    if (fact.kind === "tool" && runsForReal(tools.get(fact.callPath) ?? "")) return undefined;
    const digest = fact.digest ?? digests.get(effectOf(fact));
    return digest === undefined || fact.kind === "model" ? fact : { ...fact, digest };
  };
}
