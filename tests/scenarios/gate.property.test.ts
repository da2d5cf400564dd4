import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalDecision, type ApprovalMode, tool, type WorkerRuntime } from "../../src/index.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { play, worker } from "./harness.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 150);
/** In milliseconds: twenty thousand worlds take hours on a busy machine. */
const longest = Math.max(600_000, runs * 2000);

/** A call that the scripted model makes: of a leaf, of code that calls on, or of a worker with calls of its own. */
interface Call {
  readonly name: string;
  readonly calls: readonly Call[];
}

interface World {
  readonly tree: readonly Call[];
  readonly mode: ApprovalMode;
  readonly answers: readonly ("approve" | "remember" | "deny" | "edit" | "bad" | "throw")[];
  readonly preApproved: Readonly<Record<string, boolean | undefined>>;
  readonly hasApprover: boolean;
  readonly onDenied: "return" | "stop";
}

/** Names that code can call, and names that only a model can. `blocked` is a write to the program itself. */
const callables = ["free", "asking", "relay", "child", "main"];
const names = [...callables, "write_file", "read_file", "blocked"];

function callTree(depth: number): fc.Arbitrary<readonly Call[]> {
  if (depth === 0) return fc.constant([]);
  return fc.array(fc.record({ name: fc.constantFrom(...names), calls: callTree(depth - 1) }), {
    minLength: depth === 4 ? 1 : 0,
    maxLength: 3,
  });
}

const world: fc.Arbitrary<World> = fc.record({
  tree: callTree(4),
  mode: fc.constantFrom("prompt", "approve_all", "reject_all"),
  answers: fc.array(fc.constantFrom("approve", "remember", "deny", "edit", "bad", "throw"), { minLength: 1, maxLength: 6 }),
  preApproved: fc.record(Object.fromEntries(names.map((name) => [name, fc.option(fc.boolean(), { nil: undefined })]))),
  hasApprover: fc.boolean(),
  onDenied: fc.constantFrom("return", "stop"),
});

describe("the gate", () => {
  test(
    "lets nothing execute without a grant of its own, in any tree, mode or answer",
    async () => {
      const seen = { executed: 0, denied: 0 };
      await fc.assert(
        fc.asyncProperty(world, (given) => checkWorld(given, seen)),
        { numRuns: runs, seed: 20261121 },
      );
      expect(seen.executed).toBeGreaterThan(runs / 4);
      expect(seen.denied).toBeGreaterThan(runs / 4);
    },
    longest,
  );
});

async function checkWorld(given: World, seen: { executed: number; denied: number }): Promise<void> {
  const executed: string[] = [];
  const { journal, result, error, files } = await playWorld(given, executed);
  if (!result) expect(error).toMatchObject({ name: "RunError", code: "denied" });
  seen.executed += executed.length;
  seen.denied += journal.filter((entry) => entry.type === "decision" && entry.decision.type !== "approve").length;
  const grants = checkGrants(journal);
  expect(grants.length).toBe(new Set(grants).size);
  for (const path of executed) expect(grants).toContain(path);
  expect(new Set(executed).size).toBe(executed.length);
  expect(files["main.worker"]).not.toBe("x");
  if (given.mode === "reject_all" || !given.hasApprover) expectOnlyAllowed(journal, given.mode);
}

/**
 * Walks the journal: every step that executes comes after one grant of the same call: a verdict that allowed it, or a grant after the
 * approval of a question.
 */
function checkGrants(journal: readonly JournalEntry[]): string[] {
  const approved = new Set<string>();
  const open = new Set<string>();
  const granted: string[] = [];
  for (const entry of journal) {
    if (entry.type === "decision" && entry.decision.type === "approve") approved.add(entry.callPath);
    if (entry.type === "grant") expect(approved.delete(entry.callPath)).toBe(true);
    if (entry.type === "grant" || (entry.type === "verdict" && entry.verdict.type === "allowed")) {
      open.add(entry.callPath);
      granted.push(entry.callPath);
    }
    const executes = entry.type === "intent" ? entry.kind === "tool" : entry.type === "call-start" && entry.kind !== "code";
    if (executes && "callPath" in entry && entry.callPath.includes("/")) expect(open.delete(entry.callPath)).toBe(true);
  }
  return granted;
}

function expectOnlyAllowed(journal: readonly JournalEntry[], mode: ApprovalMode): void {
  if (mode === "approve_all") return;
  const approvals = journal.filter((entry) => entry.type === "decision" && entry.decision.type === "approve");
  expect(approvals).toEqual([]);
}

function playWorld(given: World, executed: string[]) {
  let isPlayed = false;
  const record = (runtime: WorkerRuntime) => {
    if (!isPlayed) executed.push(runtime.callPath);
    return "ok";
  };
  const anything = z.looseObject({});
  const relay = tool({
    input: anything,
    calls: callables,
    run: async (args, runtime) => {
      record(runtime);
      for (const call of (args["calls"] ?? []) as Call[])
        await runtime.call(call.name, argsOf(call) as never).catch(() => undefined);
      return "relayed";
    },
  });
  const tools = {
    free: tool({ input: anything, approval: "pre-approved", run: (_, runtime) => record(runtime) }),
    asking: tool({ input: anything, run: (_, runtime) => record(runtime) }),
    relay,
  };
  const reference = (name: string) => {
    const approved = given.preApproved[name];
    return approved === undefined ? `${name}: {}` : `${name}: { _approval_config: { "*": { pre_approved: ${approved} } } }`;
  };
  const toolsets = ["filesystem", "free", "asking", "relay", "child", "main"].map(reference).join(", ");
  const any = "input: { input?: string, calls?: any, name?: string, path?: string, content?: string }";
  let asked = 0;
  return play({
    onPlayed: () => {
      isPlayed = true;
    },
    files: {
      "main.worker": worker(`${any}\ntoolsets: { ${toolsets} }\nlimits: { turns: 4 }`),
      "child.worker": worker(`description: c\n${any}\ntoolsets: { ${toolsets} }\nlimits: { turns: 4 }`),
      "a.txt": "a",
    },
    tools,
    model: ({ messages, turn, hasTool }) => {
      if (turn > 1) return "done";
      const [first] = messages[0]?.role === "user" ? messages[0].parts : [];
      const calls = first?.type === "text" && first.text.startsWith("{") ? ((JSON.parse(first.text).calls ?? []) as Call[]) : [];
      const wanted = calls.map((call) => ({
        tool: toolOf(call),
        args: argsOf(call) as never,
        allowUnknownTool: !hasTool(toolOf(call)),
      }));
      return wanted.length > 0 ? { calls: wanted } : "nothing to do";
    },
    approval: {
      mode: given.mode,
      onDenied: given.onDenied,
      ...(given.hasApprover
        ? { approver: async ({ args }) => answer(given.answers[asked++ % given.answers.length] ?? "deny", args) }
        : {}),
    },
    request: { input: { calls: given.tree } as never, limits: { depth: 3, tool_calls: 60 } },
  });
}

function toolOf({ name }: Call): string {
  return name === "blocked" ? "write_file" : name;
}

/** Arguments that carry the calls to be made below. */
function argsOf({ name, calls }: Call): object {
  if (name === "blocked") return { path: "main.worker", content: "x" };
  if (name === "write_file") return { path: `out-${calls.length}.txt`, content: "x" };
  return name === "read_file" ? { path: "a.txt" } : { name, calls };
}

let edits = 0;

async function answer(kind: World["answers"][number], args: object): Promise<ApprovalDecision> {
  if (kind === "approve") return { type: "approve" };
  if (kind === "remember") return { type: "approve", remember: "run" };
  // An edited call is asked for again: now and then it has to come to an end.
  if (kind === "edit") return edits++ % 3 === 0 ? { type: "approve", args: args as never } : { type: "approve" };
  if (kind === "deny") return { type: "deny", note: "no" };
  if (kind === "bad") return true as never;
  throw new Error("the approver broke");
}
