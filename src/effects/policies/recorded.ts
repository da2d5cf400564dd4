import type { CallPath } from "../../protocol/call.ts";
import type { Fact, FactKey } from "../../protocol/fact.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { withoutFileContent } from "../../util/json/without-file-content.ts";
import type { AnswerPolicy } from "../answerer.ts";
import type { EffectRecord } from "../effects.ts";
import { RequestChanged } from "./request-changed.ts";

/** Decides which tools are executed while a recording answers the rest. */
export type RunsForReal = (tool: string) => boolean;

export interface RecordedOptions {
  readonly runsForReal: RunsForReal;
  /** Brings a request into the form of the recording. */
  readonly redact: <T>(value: T) => T;
}

/**
 * Answers model requests, connections, steps of code and tools from a recording, whose facts `createRecordingFilter` chose, and everything
 * else live. A request that the recording does not hold, or holds otherwise, ends the run with a `RequestChanged`.
 */
export function recorded({ runsForReal, redact }: RecordedOptions): AnswerPolicy {
  return ({ facts, find }) => {
    const connections = new Map(
      facts.flatMap((fact) => (fact.type === "result" && fact.kind === "connect" ? [[connectionOf(fact), fact]] : [])),
    );
    const tools = new Map<CallPath, string>();
    const isLive = ({ kind, callPath }: EffectRecord): boolean =>
      kind === "question" ||
      (kind === "connect" && runsForReal("*")) ||
      (kind === "tool" && runsForReal(tools.get(callPath) ?? ""));
    return {
      accept: (fact) => {
        if (fact.type === "verdict") tools.set(fact.callPath, fact.tool);
        return true;
      },
      answer: (effect, known) => {
        if (isLive(effect)) return undefined;
        const isConnection = effect.kind === "connect";
        const found = isConnection ? connections.get(connectionOf(effect)) : known.result;
        if (found && found.outcome.type !== "interrupted" && (isConnection || known.isSame)) return found.outcome;
        throw new RequestChanged(known.intent, { ...effect, detail: redact(withoutFileContent(effect.detail)) as JsonObject });
      },
      copy: (fact) => fact,
      // Parallel chains of code get the paths that they had.
      recall: (type, at) => (type === "code-call" ? find(type, at) : undefined),
      isImpatient: true,
    };
  };
}

/** A connection is found without the digest of its configuration, which can hold a path of the machine. */
function connectionOf({ callPath, key }: FactKey): string {
  return `${callPath}\n${key.split(" ", 2).join(" ")}`;
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
