import { describe, expect, test } from "vitest";
import type { Fact, JournalEntry } from "../../protocol/fact.ts";
import { renderJournal, summarizeJournal } from "./render-journal.ts";

const usage = { requests: 2, inputTokens: 10, outputTokens: 5, cachedInputTokens: 1, reasoningTokens: 0, usd: 0.01 };
const callPath = "main/0.tool";
const args = {};
const input = { input: "x", files: [], fragments: [] };
const facts: readonly Fact[] = [
  {
    type: "run-start",
    runId: "r1",
    program: "/p",
    programDigest: "0123456789abcdef",
    entry: "main",
    mode: "prompt",
    onDenied: "return",
    limits: {},
    version: "1",
    input,
  },
  { type: "call-start", callPath: "main", kind: "worker", name: "main", depth: 0, model: "test:model", input },
  {
    ...{ type: "verdict", callPath, key: "1", tool: "tool", args, facts: {}, digest: "d" },
    verdict: { type: "ask", why: "writes ask", isUnstated: true },
  },
  { type: "decision", callPath, key: "1", tool: "tool", decision: { type: "deny", note: "no" }, source: "person", memory: "m" },
  { type: "revocation", callPath, worker: "main", tool: "tool", memory: "m" },
  { type: "refusal", callPath, key: "2", tool: "tool", error: { type: "changed", error: "it changed" } },
  { type: "limit", callPath: "main", key: "model 2.1", limit: "tokens", allowed: 5 },
  { type: "grant", callPath, key: "1", tool: "tool" },
  { type: "intent", callPath, key: "tool", kind: "tool", digest: "d", detail: {}, sideEffect: true },
  {
    ...{ type: "result", callPath, key: "tool", kind: "tool", digest: "d" },
    outcome: { type: "value", value: { ok: false, error: { type: "denied", error: "no" } } },
  },
  { type: "intent", callPath, key: "model 1.1", kind: "model", digest: "d", detail: {}, sideEffect: false },
  { type: "call-end", callPath: "main", stopReason: "cut", reason: "too long", usage },
  { type: "run-end", stopReason: "failed", usage, error: { message: "it failed" }, denied: 1 },
];

const entries = (given: readonly unknown[] = facts): JournalEntry[] =>
  given.map((fact, n) => ({ v: 2, n, time: 1_700_000_000_000, ...(fact as Fact) }));

const journalOf = (given: readonly JournalEntry[], torn = false) =>
  ({ version: 2, entries: given, problems: new Map<number, string>(), torn }) as const;

const summaryOf = (given: readonly JournalEntry[]): string => {
  const [first, last] = [given[0], given.at(-1)];
  return summarizeJournal({ version: 2, ...(first && last ? { first, last } : {}) });
};

/** Each way to take one field away, or to put something else in its place, however deep. */
function damaged(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === "type" && "callPath" in value) return [];
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    const others = [null, 7, "x", {}, [], ...damaged(member)];
    return [rest, ...others.map((other) => ({ ...value, [key]: other }))];
  });
}

test("a journal of version 1 is shown, and says that it cannot be replayed", () => {
  const old = { ...journalOf(entries()), version: 1 } as const;
  expect(renderJournal(old, 200)).toContain("recorded by an older llm-do: it can be shown, and not replayed\n");
  expect(renderJournal(old, 200)).toContain("main starts");
  const [first, last] = [entries()[0], entries().at(-1)];
  expect(first && last && summarizeJournal({ version: 1, first, last })).toMatch(/failed, .*; too old to be replayed$/);
});

test("a request that a resumed run recorded once more counts once", () => {
  const result = { type: "tool-result", id: "1", name: "look", result: "x".repeat(400) };
  const request = (key: string, detail: object) => ({
    ...{ type: "intent", callPath: "main", key, kind: "model", digest: "d", sideEffect: false, detail },
  });
  const second = request("model 2.1", {
    messages: [
      { role: "assistant", parts: [] },
      { role: "tool", parts: [result] },
    ],
  });
  const first = request("model 1.1", { system: ["Look."], messages: [] });
  const attempt = {
    type: "attempt",
    number: 2,
    voids: [],
    programDigest: "d",
    mode: "prompt",
    onDenied: "return",
    limits: {},
    version: "1",
  };
  const text = renderJournal(journalOf(entries([facts[0], facts[1], first, second, attempt, second])), 200);
  expect(text.match(/result of look, turn \d/g)).toEqual(["result of look, turn 1"]);
});

test("an approval of other arguments shows them", () => {
  const decision = { type: "approve", args: { path: "b\u202e.txt" } } as const;
  const edited = facts.map((fact) => (fact.type === "decision" ? { ...fact, decision } : fact));
  expect(renderJournal(journalOf(entries(edited)), 200)).toContain('approved as {"path":"b\\u{202E}.txt"} by you');
});

describe("a journal with damaged entries", () => {
  test("is shown, with every line of the entries that are whole", () => {
    const whole = renderJournal(journalOf(entries()), 200);
    const [, start, ...lines] = whole.trimEnd().split("\n").slice(2);
    expect(start).toContain("main starts");
    let shown = 0;
    for (const [index, fact] of facts.entries()) {
      if (fact.type === "run-start" || fact.type === "run-end") continue;
      for (const other of damaged(fact)) {
        const given = entries(facts.with(index, other as Fact));
        const text = renderJournal(journalOf(given), 200);
        const lost = lines.filter((line) => !text.includes(line));
        expect(lost.length, JSON.stringify(other)).toBeLessThanOrEqual(1);
        shown++;
      }
    }
    expect(shown).toBeGreaterThan(200);
  });

  test("is shown and listed where its first or last entry is damaged", () => {
    for (const index of [0, facts.length - 1]) {
      for (const other of damaged(facts[index])) {
        const given = entries(facts.with(index, other as Fact));
        expect(renderJournal(journalOf(given, true), 200)).not.toMatch(/Cannot read|undefined \(reading|is not a function/);
        expect(summaryOf(given)).not.toMatch(/Cannot read|is not a function/);
      }
    }
    const noUsage = { type: "run-end", stopReason: "done", usage: {}, denied: 0 };
    expect(summaryOf(entries([facts[0], noUsage]))).toContain("(entry 1, run-end, is damaged)");
  });
});
