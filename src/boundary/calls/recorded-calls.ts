import type { CallPath } from "../../protocol/call.ts";
import { codeCallPath, isAtOrBelow, isInCheck } from "../../protocol/call.ts";
import type { Fact, FactOf } from "../../protocol/fact.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { FilePart } from "../../protocol/message.ts";
import { dollarsOf } from "../../protocol/usage.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";

/**
 * Reasons not to learn from a call. `denied`, `edited`: a person denied one of its calls, or changed its arguments. `failed`, `cut`: it did
 * not end with an answer of its own. `repeated`: an earlier call had the same input. `secret`: its input or output holds a secret, of which
 * the record has a token alone.
 */
export type CallMark = "denied" | "edited" | "failed" | "cut" | "repeated" | "secret";

/** A file of an input, without its content. */
export type CallFile = Pick<FilePart, "name" | "mediaType" | "bytes" | "sha256">;

/** One recorded execution of a worker: what it was asked, and what it answered. */
export interface RecordedCall {
  /** `RUN/CALL_PATH`. */
  readonly from: string;
  readonly worker: string;
  readonly input: JsonValue;
  readonly files: readonly CallFile[];
  /** Texts that the caller added. */
  readonly fragments: readonly string[];
  /** Undefined if it failed. */
  readonly output: JsonValue | undefined;
  readonly by: "code" | "prompt";
  readonly model: string | undefined;
  /** Dollars of the call and all below it; undefined if a price is unknown. */
  readonly usd: number | undefined;
  readonly ms: number;
  /** When it began, in milliseconds since the epoch. */
  readonly time: number;
  readonly marks: readonly CallMark[];
  /** SHA-256 of input, files and fragments: equal for equal questions. */
  readonly digest: string;
}

interface OpenCall {
  readonly start: FactOf<"call-start">;
  readonly time: number;
  readonly marks: Set<CallMark>;
}

/**
 * Returns the calls of one worker in a run, in the order in which they ended. `times` are those of the facts, in milliseconds since the
 * epoch. A call that has not ended is left out; one that ended in two attempts counts as it ended last.
 */
export function recordedCalls(
  { run, facts, times }: { readonly run: string; readonly facts: readonly Fact[]; readonly times: readonly number[] },
  worker: string,
): readonly RecordedCall[] {
  const open = new Map<CallPath, OpenCall>();
  const ended = new Map<CallPath, RecordedCall>();
  /** Calls of code that answered. */
  const byCode = new Set<CallPath>();
  for (const [index, fact] of facts.entries()) {
    const time = times[index] ?? 0;
    if (fact.type === "call-start" && fact.kind === "worker" && fact.name === worker && !isInCheck(fact.callPath))
      open.set(fact.callPath, { start: fact, time, marks: new Set() });
    if (fact.type === "decision") markDecision(open, fact);
    if (fact.type === "call-end" && isAnswer(fact.output)) byCode.add(fact.callPath);
    const call = fact.type === "call-end" ? open.get(fact.callPath) : undefined;
    if (fact.type !== "call-end" || !call) continue;
    ended.delete(fact.callPath);
    const by = byCode.has(codeCallPath(fact.callPath)) ? "code" : "prompt";
    ended.set(fact.callPath, toCall(call, fact, { run, by, ms: time - call.time }));
  }
  return [...ended.values()];
}

function isAnswer(output: JsonValue | undefined): boolean {
  return isRecord(output) && output["type"] === "answer";
}

/** Marks calls whose input an earlier one had. */
export function markRepeated(): (call: RecordedCall) => RecordedCall {
  const seen = new Set<string>();
  return (call) => {
    if (!seen.has(call.digest)) {
      seen.add(call.digest);
      return call;
    }
    return { ...call, marks: [...call.marks, "repeated"] };
  };
}

function markDecision(open: ReadonlyMap<CallPath, OpenCall>, { callPath, decision }: FactOf<"decision">): void {
  const mark = decision.type !== "approve" ? "denied" : decision.args ? "edited" : undefined;
  if (mark === undefined) return;
  for (const [path, { marks }] of open) if (path !== callPath && isAtOrBelow(callPath, path)) marks.add(mark);
}

function toCall(
  { start, time, marks }: OpenCall,
  end: FactOf<"call-end">,
  { run, by, ms }: { readonly run: string; readonly by: RecordedCall["by"]; readonly ms: number },
): RecordedCall {
  const { input, files, fragments } = start.input;
  const { output, stopReason, error } = end;
  if (stopReason === "limit" || stopReason === "cut") marks.add("cut");
  else if (error !== undefined || output === undefined || stopReason !== "done") marks.add("failed");
  const kept = files.map(({ name, mediaType, bytes, sha256: digest }) => ({ name, mediaType, bytes, sha256: digest }));
  if (canonicalJson([input, fragments, output ?? null]).includes("⟦secret:")) marks.add("secret");
  return {
    from: `${run}/${start.callPath}`,
    worker: start.name,
    ...{ input, files: kept, fragments, output },
    by,
    model: start.model,
    usd: dollarsOf(end.usage),
    ...{ ms, time },
    marks: [...marks],
    digest: sha256(canonicalJson([input, kept.map((file) => file.sha256), fragments])),
  };
}
