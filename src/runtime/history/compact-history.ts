import { compactionKey, modelKey } from "../../effects/keys.ts";
import type { DroppedResult, FactOf } from "../../protocol/fact.ts";
import { type ToolMessage, type ToolResult, type ToolResultPart, withoutFiles } from "../../protocol/message.ts";
import { readResultName } from "../../toolsets/results/read-result.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { estimateTokens } from "../bounds/estimate-tokens.ts";
import type { CallConfig, CallFrame } from "../config.ts";
import { textOf, withText } from "./cut-results.ts";
import { searchTools } from "./search-tools.ts";

/** A conversation that fills this share of the window is compacted. The rest is for the answer, and for errors of the estimate. */
const fullShare = 0.8;
/** Compaction leaves this share, so that it is rare: each one breaks the prefix that the provider has in its cache. */
const leftShare = 0.5;
/** The results of these many last turns stay, unless the window is full without any other. Those of the last turn always stay. */
const lastTurns = 4;
/** Shorter results are not dropped: what stands in their place is as long. In tokens. */
const shortest = 50;

export interface Room {
  /** The attempt of the request that is to go out, from 1. */
  readonly attempt: number;
  /** The model's window, in tokens; undefined if it is not known. */
  readonly window: number | undefined;
}

/**
 * Drops old tool results where the next request would come near the model's window. The system parts, all calls, what the user said and
 * the last turns stay. The decision is a fact: a replayed run drops the same.
 */
export function compactHistory(call: CallConfig, frame: CallFrame, room: Room): void {
  const { run, callPath } = call;
  const key = { callPath, key: compactionKey(frame.turn + 1, room.attempt) };
  const decided = run.effects.decideOnce("compaction", key, {
    decide: () => (wasRequested(call, frame, room) ? undefined : decide(call, frame, room)),
  });
  if (!decided) return;
  const { window, before, after, dropped } = decided;
  run.emit(call, { type: "compaction", window, before, after, dropped });
  drop(frame, dropped);
  // The model may have to ask for a dropped result again.
  frame.repeats.clear();
}

/** True if a recorded run made this request with the conversation as it is. */
function wasRequested({ run, callPath }: CallConfig, { turn }: CallFrame, { attempt }: Room): boolean {
  return [false, true].some((isLast) => run.effects.recall("intent", { callPath, key: modelKey(turn + 1, attempt, isLast) }));
}

/** Notes that the provider refused a request as too long. Returns true if dropping results can help. */
export function noteRefusal(call: CallConfig, frame: CallFrame): boolean {
  frame.refusedTokens = tokensOf(call, frame);
  return droppable(frame, 1).length > 0;
}

type Compaction = Pick<FactOf<"compaction">, "window" | "before" | "after" | "dropped">;

function decide(call: CallConfig, frame: CallFrame, { window: listed }: Room): Compaction | undefined {
  // Before the first answer nothing is known but estimates, which count files by their size.
  if (!frame.measured && frame.refusedTokens === undefined) return undefined;
  const window = Math.min(listed ?? Number.POSITIVE_INFINITY, frame.refusedTokens ?? Number.POSITIVE_INFINITY);
  const before = tokensOf(call, frame);
  if (before <= window * fullShare) return undefined;
  const old = choose(droppable(frame, lastTurns), before - window * leftShare);
  const isEnough = before - sum(old) <= window * fullShare;
  const dropped = isEnough ? old : choose(droppable(frame, 1), before - window * leftShare);
  return dropped.length > 0 ? { window, before, after: before - sum(dropped), dropped } : undefined;
}

/** Measured by the provider for the last request, and estimated for what came since. */
function tokensOf(call: CallConfig, frame: CallFrame): number {
  const estimate = estimateTokens(call, frame);
  return frame.measured ? Math.max(0, frame.measured.tokens + estimate - frame.measured.estimate) : estimate;
}

/** Results that can be dropped, oldest first: none of the last so many turns that have any. */
function droppable({ messages, earlier }: CallFrame, kept: number): readonly DroppedResult[] {
  const places = messages.flatMap(({ role }, index) => (role === "tool" ? [index] : []));
  const old = new Set(places.slice(0, Math.max(0, places.length - kept)));
  let turn = 0;
  return messages.flatMap((message, index) => {
    if (message.role === "assistant" && index >= earlier) turn++;
    if (message.role !== "tool" || !old.has(index)) return [];
    return message.parts.flatMap((one, part) => {
      const tokens = Math.ceil(lengthOf(one.result) / 4);
      // The results of a search say which tools are offered.
      return tokens < shortest || one.name === searchTools ? [] : [{ message: index, part, turn, tool: one.name, tokens }];
    });
  });
}

/** In characters: files count by their size, as in the estimate of a request. */
function lengthOf(result: ToolResult): number {
  const files = result.ok ? (result.files ?? []) : [];
  return files.reduce((length, { data }) => length + data.length, textOf(result).length);
}

function choose(results: readonly DroppedResult[], wanted: number): readonly DroppedResult[] {
  let chosen = 0;
  return results.filter(({ tokens }) => {
    if (chosen >= wanted) return false;
    chosen += tokens;
    return true;
  });
}

function sum(results: readonly DroppedResult[]): number {
  return results.reduce((total, { tokens }) => total + tokens, 0);
}

/** Replaces results in the conversation. Messages never change: each that loses a result is replaced as a whole. */
function drop(frame: CallFrame, dropped: readonly DroppedResult[]): void {
  const byMessage = Map.groupBy(dropped, ({ message }) => message);
  for (const [index, results] of byMessage) {
    const message = frame.messages[index];
    if (message?.role !== "tool") continue;
    const places = new Set(results.map(({ part }) => part));
    frame.messages[index] = toStubs(message, (part, place) => (places.has(place) ? toStub(frame, part) : part));
  }
}

function toStubs({ parts }: ToolMessage, convert: (part: ToolResultPart, place: number) => ToolResultPart): ToolMessage {
  return { role: "tool", parts: parts.map(convert) };
}

function toStub({ cuts }: CallFrame, part: ToolResultPart): ToolResultPart {
  const length = formatCount(textOf(part.result).length);
  const id = cuts?.ids.get(part);
  const again =
    id === undefined ? "make the call again if you need it" : `read it with ${readResultName}(${JSON.stringify({ id })})`;
  return {
    ...part,
    result: withText(withoutFiles(part.result), `[dropped to make room: a result of ${length} characters; ${again}]`),
  };
}
