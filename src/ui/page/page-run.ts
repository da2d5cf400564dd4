import type { ApprovalDecision, ApprovalRequest, DecisionSource, Verdict } from "../../protocol/approval.ts";
import { type CallPath, childCallPath, comparePaths, parentCallPath, type StopReason } from "../../protocol/call.ts";
import type { FactOf, JournalEntry } from "../../protocol/fact.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { AnswerFinish, AssistantMessage, Message, ToolResult } from "../../protocol/message.ts";
import type { ToolError } from "../../protocol/tool.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";
import { formatCount } from "../../util/text/format-count.ts";

import { renderChecked } from "../render-checked.ts";
import { renderCompaction } from "../render-compaction.ts";
import { renderDecision } from "../render-decision.ts";
import type { CallView } from "../run-view.ts";

/** The recorded answer of a model. */
interface RecordedAnswer {
  readonly message: AssistantMessage;
  readonly usage: Usage;
  readonly finish: AnswerFinish;
}

/** A request to a model, with its answer. */
export interface PageTurn {
  readonly number: string;
  readonly model: string;
  readonly span: Span;
  answer?: RecordedAnswer;
  /** Set where there is no answer. */
  failure?: string;
  /** It is recorded in the run that this one is a fork of, which paid for it. */
  isShared?: boolean;
  /** The attempt that did not count it any more. */
  voidBy?: number;
}

/** A question, or a decision that needed none. */
export interface PageDecision {
  readonly call: PageCall;
  readonly request?: ApprovalRequest;
  readonly span: Span;
  decision?: ApprovalDecision;
  source?: DecisionSource;
  /** The run stopped for it. */
  stops?: true;
  voidBy?: number;
}

/** In milliseconds of the run, without the time between two attempts. */
export interface Span {
  readonly kind: "model" | "person" | "tool";
  readonly from: number;
  to?: number;
}

export type PageItem =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "turn"; readonly turn: PageTurn }
  | { readonly type: "call"; readonly call: PageCall }
  | { readonly type: "note"; readonly text: string };

/** A call of a run, with all that is known of it. */
export interface PageCall extends Pick<CallView, "path" | "kind" | "model" | "args" | "preview"> {
  readonly from: number;
  to?: number;
  tool: string;
  instructions?: JsonValue;
  tools?: readonly JsonValue[];
  verdict?: Verdict;
  readonly items: PageItem[];
  readonly spans: Span[];
  /** The result that its caller got. */
  result?: ToolResult;
  stopReason?: StopReason | "interrupted";
  output?: JsonValue;
  usage?: Usage;
  voidBy?: number;
}

/** A continuation of the run. */
export interface PageAttempt {
  readonly number: number;
  readonly time: number;
  /** In words: the terms that differ from those of the attempt before. */
  readonly changes: readonly string[];
  /** Types of the entries that it did not count any more, with their calls. */
  readonly voids: readonly { readonly callPath: CallPath; readonly what: string }[];
}

export interface PageRun {
  readonly start: JournalEntry & FactOf<"run-start">;
  /** The entry's. */
  model?: string;
  /** The sum over all requests that were paid for here. */
  usage: Usage;
  end?: FactOf<"run-end">;
  undo?: FactOf<"undo">;
  /** In the order in which they began. */
  readonly calls: PageCall[];
  readonly decisions: PageDecision[];
  readonly attempts: PageAttempt[];
  readonly span: number;
  /** Numbers of entries that could not be read. */
  readonly damaged: number[];
}

/**
 * Folds the whole entries of a journal into what a page shows of it. `problems` are those of its damaged entries. Undefined if the run
 * did not begin.
 */
export function foldJournal(entries: readonly JournalEntry[], problems: ReadonlyMap<number, string>): PageRun | undefined {
  const [start] = entries;
  if (start?.type !== "run-start") return undefined;
  const fold = new PageFold(start, entries);
  fold.run.damaged.push(...problems.keys());
  for (const entry of entries) {
    try {
      fold.add(entry);
    } catch {
      fold.run.damaged.push(entry.n);
    }
  }
  return fold.run;
}

class PageFold {
  readonly run: PageRun & { span: number };
  readonly #latest = new Map<CallPath, PageCall>();
  readonly #open = new Map<string, PageTurn | PageDecision | { readonly span: Span }>();
  readonly #asked = new Map<CallPath, JsonValue>();
  readonly #ordinals = new Map<PageCall, number>();
  readonly #entries: ReadonlyMap<number, JournalEntry>;
  /** The attempt that voided an entry, by its number. */
  readonly #voids: ReadonlyMap<number, number>;
  #terms: FactOf<"run-start"> | FactOf<"attempt">;
  /** Subtracted from times. */
  #offset: number;
  #time: number;

  constructor(start: JournalEntry & FactOf<"run-start">, entries: readonly JournalEntry[]) {
    this.run = { start, usage: noUsage, calls: [], decisions: [], attempts: [], span: 0, damaged: [] };
    this.#terms = start;
    this.#entries = new Map(entries.map((entry) => [entry.n, entry]));
    [this.#offset, this.#time] = [start.time, start.time];
    const voids = entries.flatMap((entry) =>
      entry.type === "attempt" ? entry.voids.map((n) => [n, entry.number] as const) : [],
    );
    this.#voids = new Map(voids);
  }

  add(entry: JournalEntry): void {
    // An undo comes after the run, and is no part of its time.
    if (entry.type === "undo") {
      this.run.undo = entry;
      return;
    }
    if (entry.type === "attempt") this.#offset += Math.max(0, entry.time - this.#time);
    this.#time = Math.max(this.#time, entry.time);
    this.run.span = this.#time - this.#offset;
    const voidBy = this.#voids.get(entry.n);
    const call = "callPath" in entry ? this.#callOf(entry, voidBy) : undefined;
    if (call) this.#addToCall(call, entry, voidBy);
    else if (entry.type === "attempt") this.#addAttempt(entry);
    else if (entry.type === "run-end" && voidBy === undefined) this.run.end = entry;
  }

  #callOf(entry: JournalEntry & { readonly callPath: CallPath }, voidBy: number | undefined): PageCall {
    const { callPath: path } = entry;
    const known = this.#latest.get(path);
    const begins = entry.type === "verdict" || entry.type === "call-start";
    if (known && !(begins && known.voidBy !== undefined && voidBy === undefined)) return known;
    const args = this.#asked.get(path);
    const call: PageCall = {
      ...{ path, from: this.#now(), kind: "tool", tool: path.replace(/^.*\/\d+\./, ""), items: [], spans: [] },
      ...(args === undefined ? {} : { args }),
    };
    if (begins && voidBy !== undefined) call.voidBy = voidBy;
    this.#latest.set(path, call);
    this.run.calls.push(call);
    insertCall(this.#latest.get(parentCallPath(path) ?? "")?.items ?? [], call);
    return call;
  }

  #addToCall(call: PageCall, entry: JournalEntry, voidBy: number | undefined): void {
    const mark = voidBy === undefined ? {} : { voidBy };
    switch (entry.type) {
      case "call-start":
        Object.assign(call, { kind: entry.kind, tool: entry.name, args: call.args ?? entry.input.input });
        if (entry.model !== undefined) call.model = entry.model;
        if (call.path === this.run.start.entry && entry.model !== undefined) this.run.model = entry.model;
        return;
      case "call-end":
        this.#endCall(call, entry, voidBy);
        return;
      case "verdict":
        Object.assign(call, { tool: entry.tool, args: entry.args, verdict: entry.verdict });
        return;
      case "intent":
        this.#begin(call, entry, mark);
        return;
      case "result":
        this.#finish(call, entry, mark);
        return;
      case "decision":
        this.#decide(call, entry, mark);
        return;
      case "refusal":
        this.#settle(call, { ok: false, error: entry.error });
        return;
      case "limit":
        this.#note(call, `the limit of ${entry.allowed} ${entry.limit.replaceAll("_", " ")} is reached`);
        return;
      case "compaction":
        this.#note(call, renderCompaction(entry));
        return;
      case "abort":
        this.#note(call, "a call of it failed, and what ran beside it was aborted");
        return;
      case "cut":
        this.#note(call, `its result of ${formatCount(entry.characters)} characters was cut for the model`);
        return;
      case "checked":
        this.#note(call, renderChecked(entry));
        return;
      case "artifact":
        this.#note(call, `the provider made the file ${entry.name}`);
        return;
      case "revocation":
        this.#note(call, `an approval for the run was revoked: ${entry.worker} > ${entry.tool}`);
        return;
    }
  }

  #endCall(call: PageCall, entry: FactOf<"call-end">, voidBy: number | undefined): void {
    const { stopReason, reason, usage, output } = entry;
    if (voidBy !== undefined) {
      this.#note(call, `ended in an earlier attempt: ${stopReason}${reason === undefined ? "" : `, ${reason}`}`);
      return;
    }
    Object.assign(call, { stopReason, usage, to: this.#now() });
    if (output !== undefined) call.output = output;
    if (reason !== undefined) this.#note(call, `ended: ${stopReason}, ${reason}`);
    const result = parentCallPath(call.path) === undefined ? undefined : resultOf(entry);
    if (result) this.#settle(call, result);
  }

  #begin(call: PageCall, intent: FactOf<"intent">, mark: object): void {
    const { kind, key, detail } = intent;
    const id = `${call.path}\n${key}`;
    const span: Span = { kind: kind === "model" ? "model" : kind === "question" ? "person" : "tool", from: this.#now() };
    call.spans.push(span);
    if (kind === "question") {
      const request = isRecord(detail["request"]) ? { request: detail["request"] as unknown as ApprovalRequest } : {};
      const decision: PageDecision = { call, span, ...request, ...mark };
      this.run.decisions.push(decision);
      if (decision.request?.preview) call.preview = decision.request.preview;
      this.#open.set(id, decision);
    } else if (kind === "model") this.#open.set(id, this.#beginTurn(call, intent, { span, ...mark }));
    else this.#open.set(id, { span });
  }

  #beginTurn(call: PageCall, { key, detail }: FactOf<"intent">, marked: { readonly span: Span }): PageTurn {
    const { system, tools, messages } = detail;
    if (system !== undefined) call.instructions = system;
    if (Array.isArray(tools)) call.tools = tools;
    for (const message of Array.isArray(messages) ? (messages as unknown as readonly Message[]) : [])
      if (message.role === "user") call.items.push({ type: "message", message });
    const turn: PageTurn = { number: key.slice("model ".length), model: String(detail["model"]), ...marked };
    call.items.push({ type: "turn", turn });
    return turn;
  }

  #finish(call: PageCall, entry: FactOf<"result">, mark: object): void {
    const { key, kind, outcome } = entry;
    const open = this.#open.get(`${call.path}\n${key}`);
    if (open) open.span.to = this.#now();
    const value = outcome.type === "value" ? outcome.value : undefined;
    const answer = kind === "model" ? (value as RecordedAnswer | undefined) : undefined;
    if (answer && !entry.shared) this.run.usage = addUsage(this.run.usage, answer.usage);
    if (open && kind === "model") {
      const failed = outcome.type === "error" ? String(outcome.error["message"]) : "interrupted";
      Object.assign(open, mark, answer ? { answer } : { failure: failed }, entry.shared ? { isShared: true } : {});
      if (answer && !("voidBy" in mark)) this.#expectCalls(call, answer);
    } else if (kind === "tool" && outcome.type === "interrupted") {
      Object.assign(call, { stopReason: "interrupted", to: this.#now() });
    } else if (kind === "tool" && value !== undefined) this.#settle(call, value as unknown as ToolResult);
  }

  /** Keeps the arguments that the model gave, for calls that are refused before they are prepared. */
  #expectCalls(call: PageCall, { message, finish }: RecordedAnswer): void {
    if (finish === "length" || finish === "context-window") return;
    for (const part of message.parts) {
      if (part.type !== "tool-call" && part.type !== "server-call") continue;
      const ordinal = this.#ordinals.get(call) ?? 0;
      this.#ordinals.set(call, ordinal + 1);
      this.#asked.set(childCallPath(call.path, ordinal, part.name), part.args);
    }
  }

  #decide(call: PageCall, { key, decision, source, stops }: FactOf<"decision">, mark: object): void {
    const asked = this.#open.get(`${call.path}\nquestion ${key}`);
    const answer = { decision, source, ...(stops ? { stops } : {}), ...mark };
    if (asked) Object.assign(asked, answer);
    else this.run.decisions.push({ call, span: { kind: "person", from: this.#now(), to: this.#now() }, ...answer });
    if (decision.type === "approve") return;
    this.#settle(call, { ok: false, error: { type: "denied", error: renderDecision({ decision, source }) } });
  }

  #note(call: PageCall, text: string): void {
    call.items.push({ type: "note", text });
  }

  #addAttempt(entry: JournalEntry & FactOf<"attempt">): void {
    const voids = entry.voids.flatMap((n) => {
      const one = this.#entries.get(n);
      if (!one || one.type === "run-end") return [];
      return "callPath" in one ? [{ callPath: one.callPath, what: describeEntry(one) }] : [];
    });
    const changes = describeTerms(this.#terms, entry);
    this.#terms = entry;
    this.run.attempts.push({ number: entry.number, time: entry.time, changes, voids });
  }

  #settle(call: PageCall, result: ToolResult): void {
    Object.assign(call, { result, to: this.#now() });
  }

  #now(): number {
    return this.#time - this.#offset;
  }
}

/** Calls of one turn are shown in the order in which they were requested, whichever began first. */
function insertCall(items: PageItem[], call: PageCall): void {
  let at = items.length;
  for (
    let before = items[at - 1];
    before?.type === "call" && comparePaths(before.call.path, call.path) > 0;
    before = items[at - 1]
  )
    at--;
  items.splice(at, 0, { type: "call", call });
}

/** The end of a worker's call is the result that its caller got, unless it unwound the caller, too. */
function resultOf({ result, error, output = null }: FactOf<"call-end">): ToolResult | undefined {
  if (result) return result as unknown as ToolResult;
  if (!error) return { ok: true, value: output };
  return isRecord(error["failure"]) ? { ok: false, error: error["failure"] as unknown as ToolError } : undefined;
}

function describeEntry(entry: JournalEntry): string {
  switch (entry.type) {
    case "intent":
    case "result":
      return `${entry.type === "intent" ? "the start" : "the outcome"} of ${entry.key}`;
    case "call-end":
      return `its end (${entry.stopReason})`;
    default:
      return `its ${entry.type}`;
  }
}

type Terms = Pick<FactOf<"attempt">, "programDigest" | "mode" | "onDenied" | "limits" | "version">;

function describeTerms(before: Terms, after: Terms): string[] {
  const limits = new Set([...Object.keys(before.limits), ...Object.keys(after.limits)]) as Set<keyof Terms["limits"]>;
  const change = (name: string, old: unknown, now: unknown) =>
    old === now ? [] : [`${name}: ${String(old ?? "none")} before, ${String(now ?? "none")} now`];
  return [
    ...(before.programDigest === after.programDigest
      ? []
      : ["the program was changed, or the options that it was compiled with"]),
    ...change("approvals", before.mode, after.mode),
    ...change("after a denial", before.onDenied, after.onDenied),
    ...[...limits].flatMap((name) => change(`limit of ${name.replaceAll("_", " ")}`, before.limits[name], after.limits[name])),
    ...change("llm-do", before.version, after.version),
  ];
}
