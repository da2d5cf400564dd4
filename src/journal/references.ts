import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { isRecord, recordsIn } from "../protocol/json.ts";

/*
 * The new messages of a request are mostly answers and results of tools, which earlier entries have. In an entry of version 3 the number of
 * such an entry stands for them: among the `messages` for the message of an answer, among the `parts` of a message with the role `tool` for
 * the result of a call. That is the call at the same place in the answer just before. No number stands in these places otherwise.
 */

/** Entries that have an answer or a result, by the message or the result itself: neither ever changes. */
export type KnownValues = WeakMap<object, number>;

/** Notes the texts that later entries of the journal can refer to. */
export function noteValue(known: KnownValues, fact: Fact, entry: number): void {
  if (fact.type !== "result") return;
  const value = saidIn(fact, fact.kind);
  if (value) known.set(value, entry);
}

/** Returns the fact with references to earlier entries; the same one where it has none. */
export function withReferences(fact: Fact, known: KnownValues): Fact {
  const messages = messagesOf(fact);
  if (!messages || messages.length === 0) return fact;
  let isShort = false;
  const find = (value: unknown): number | undefined => {
    const entry = isRecord(value) ? known.get(value) : undefined;
    isShort ||= entry !== undefined;
    return entry;
  };
  const short = messages.map((message, at) => find(message) ?? changeResults(message, messages[at - 1], shorten));
  return isShort ? withMessages(fact, short) : fact;

  function shorten(part: unknown, call: Call | undefined): unknown {
    if (!isRecord(part) || part["id"] !== call?.["id"] || part["name"] !== call?.["name"]) return part;
    return find(part["result"]) ?? part;
  }
}

/** Puts the values of earlier entries in the places of their numbers. A number that names none of these stays, and is a problem. */
export function withoutReferences(entry: JournalEntry, earlier: readonly JournalEntry[]) {
  let problem: string | undefined;
  const find = (number: number, kind: "model" | "tool"): object | undefined => {
    const named = earlier[number];
    const value = named && saidIn(named, kind);
    if (!value) problem = `this ${entry.type} entry refers to entry ${number}, which has nothing that it could stand for`;
    return value;
  };
  const expand = (part: unknown, call: Call | undefined): unknown => {
    if (typeof part !== "number") return part;
    const result = find(part, "tool");
    if (!call) problem = `entry ${part} answers no call of the message before it`;
    return call && result ? { type: "tool-result", id: call["id"], name: call["name"], result } : part;
  };
  const whole: unknown[] = [];
  for (const message of messagesOf(entry) ?? []) {
    const said = typeof message === "number" ? (find(message, "model") ?? message) : message;
    whole.push(changeResults(said, whole.at(-1), expand));
  }
  return { entry: whole.length > 0 ? withMessages(entry, whole) : entry, problem };
}

/** Returns the part of an entry that a conversation takes: the message of an answer, or the result of a tool. */
function saidIn(entry: Fact | JournalEntry, kind: string): object | undefined {
  const outcome: unknown = entry.type === "result" && entry.kind === kind ? entry.outcome : undefined;
  if (!isRecord(outcome) || outcome["type"] !== "value" || !isRecord(outcome["value"])) return undefined;
  const value = kind === "model" ? outcome["value"]["message"] : kind === "tool" ? outcome["value"] : undefined;
  return isRecord(value) ? value : undefined;
}

/** A part of an answer that asks for a call. */
type Call = Readonly<Record<string, unknown>>;

/** Changes the parts of a message with results, each with the call that it answers. Returns every other message as it is. */
function changeResults(message: unknown, answer: unknown, change: (part: unknown, call: Call | undefined) => unknown): unknown {
  if (!isRecord(message) || message["role"] !== "tool" || !Array.isArray(message["parts"])) return message;
  const calls = isRecord(answer) ? recordsIn(answer["parts"]).filter(({ type }) => type === "tool-call") : [];
  return { ...message, parts: message["parts"].map((part, at) => change(part, calls[at])) };
}

function messagesOf(fact: Fact | JournalEntry): readonly unknown[] | undefined {
  const detail: unknown = fact.type === "intent" && fact.kind === "model" ? fact.detail : undefined;
  return isRecord(detail) && Array.isArray(detail["messages"]) ? detail["messages"] : undefined;
}

function withMessages<T extends Fact | JournalEntry>(fact: T, messages: readonly unknown[]): T {
  return { ...fact, detail: { ...("detail" in fact ? fact.detail : undefined), messages } };
}
