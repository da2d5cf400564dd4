import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { expect } from "vitest";
import { z } from "zod";
import { standingFacts } from "../../src/effects/standing.ts";
import { type ApprovalDecision, type ApprovalRequest, type JsonValue, tool, type WorkerRuntime } from "../../src/index.ts";
import type { ApprovalRequest as Question } from "../../src/protocol/approval.ts";
import type { ScriptedReply, ScriptedRequest } from "../../src/testing/index.ts";
import { worker } from "./harness.ts";
import { type Attempt, attempt, createWorld, type KillableProgram, type World } from "./killable.ts";

/** A call that the model makes in one of its turns, with a name that no other call has. */
type Call =
  | { readonly tool: "note" | "blind" | "look"; readonly args: { readonly id: string; readonly answer: Answer } }
  | { readonly tool: "write_file"; readonly args: { readonly path: string; readonly content: string } }
  | { readonly tool: "relay"; readonly args: { readonly id: string; readonly chains: readonly (readonly string[])[] } }
  | { readonly tool: "child"; readonly args: { readonly input: string } };
type Answer = "approve" | "deny" | "edit";
export type Plan = readonly (readonly Call[])[];

let count = 0;
const id = fc.constant(undefined).map(() => `id${count++}`);

const leaf: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    tool: fc.constantFrom("note" as const, "blind" as const, "look" as const),
    args: fc.record({ id, answer: fc.constantFrom<Answer>("approve", "approve", "approve", "deny", "edit") }),
  }),
  id.map((name): Call => ({ tool: "write_file", args: { path: `out/${name}.txt`, content: name } })),
  fc.record({
    tool: fc.constant("relay" as const),
    args: fc.record({ id, chains: fc.array(fc.array(id, { maxLength: 2 }), { minLength: 1, maxLength: 3 }) }),
  }),
);

/** Plans of calls, at most `depth` workers deep. */
export function randomPlan(depth: number): fc.Arbitrary<Plan> {
  const call =
    depth === 0
      ? leaf
      : fc.oneof(
          { weight: 3, arbitrary: leaf },
          {
            weight: 1,
            arbitrary: fc.record({
              tool: fc.constant("child" as const),
              args: randomPlan(depth - 1).map((input) => ({ input: JSON.stringify(input) })),
            }),
          },
        );
  return fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: depth === 2 ? 1 : 0, maxLength: 2 });
}

/** Effects outside, whatever any record says. */
export interface Ledger {
  readonly done: string[];
  /** Questions that were answered; of each the call, its arguments and why it asked. */
  readonly asked: string[];
  served: number;
  readonly failed: Set<string>;
}

/** A run of a plan that nothing disturbs. */
export interface UndisturbedRun {
  readonly attempt: Attempt;
  readonly world: World;
  readonly ledger: Ledger;
}

export async function playUndisturbed(tree: Plan): Promise<UndisturbedRun> {
  const [world, ledger] = [createTreeWorld(), createLedger()];
  const whole = await attempt(world, createTreeProgram(tree, ledger));
  if (whole.error) throw whole.error;
  return { attempt: whole, world, ledger };
}

/** Asserts that a run came to what the undisturbed one came to: each side effect once, and all usage counted. */
export function expectSame(
  last: Attempt | undefined,
  undisturbed: UndisturbedRun,
  { world, ledger }: Omit<UndisturbedRun, "attempt">,
) {
  if (last?.error) throw last.error;
  expect(last?.result?.output).toEqual(undisturbed.attempt.result?.output);
  expect([...ledger.done].sort()).toEqual([...undisturbed.ledger.done].sort());
  expect(filesOf(world)).toEqual(filesOf(undisturbed.world));
  const { inputTokens = 0, outputTokens = 0, unknownTokens = 0 } = last?.result?.usage ?? {};
  expect(inputTokens + outputTokens).toBeLessThanOrEqual(ledger.served);
  expect(ledger.served).toBeLessThanOrEqual(inputTokens + outputTokens + unknownTokens);
}

/** Plays an attempt, and asserts that it asks nobody what the earlier one has the answer to. */
export async function attemptOnce(
  { world, ledger }: Omit<UndisturbedRun, "attempt">,
  earlier: Attempt | undefined,
  play: (world: World) => Promise<Attempt>,
): Promise<Attempt> {
  const answered = new Set(earlier ? answeredIn(earlier) : []);
  const before = ledger.asked.length;
  const next = await play(world);
  for (const asked of ledger.asked.slice(before)) expect(answered).not.toContain(asked);
  return next;
}

/** Counts side effects that may have happened. */
export function uncertainIn({ record }: Attempt): number {
  const { facts } = standingFacts(record.facts);
  const ended = new Set(facts.flatMap((fact) => (fact.type === "result" ? [`${fact.callPath} ${fact.key}`] : [])));
  return facts.filter((fact) => fact.type === "intent" && fact.sideEffect && !ended.has(`${fact.callPath} ${fact.key}`)).length;
}

function answeredIn({ record }: Attempt): readonly string[] {
  const answered = new Set(
    record.facts.flatMap((fact) =>
      fact.type === "result" && fact.kind === "question" && fact.outcome.type === "value" ? [`${fact.callPath} ${fact.key}`] : [],
    ),
  );
  return record.facts.flatMap((fact) =>
    fact.type === "intent" && fact.kind === "question" && answered.has(`${fact.callPath} ${fact.key}`)
      ? [describe(fact.detail["request"] as unknown as Question)]
      : [],
  );
}

function describe({ callPath, args, why }: Question): string {
  return `${callPath} ${JSON.stringify(args)} ${why}`;
}

/** The program of every plan: what its workers do is in their input. */
export const treeFiles = {
  "main.worker": worker(
    `limits: { turns: 20 }
output: { type: object, properties: { results: { type: array } } }
sandbox: { paths: { out: { root: ./out, mode: rw } } }
toolsets: { note: {}, blind: {}, look: {}, relay: {}, child: {}, filesystem: {} }`,
  ),
  "child.worker": worker(
    `description: c
sandbox: { paths: { out: { root: ./out, mode: rw } } }
toolsets: { note: {}, blind: {}, look: {}, relay: {}, child: {}, filesystem: {} }`,
  ),
};

export function createTreeWorld(): World {
  return createWorld(treeFiles, { note: 0, blind: 0, look: 0, relay: 0 });
}

export function createLedger(): Ledger {
  return { done: [], asked: [], served: 0, failed: new Set() };
}

function filesOf({ memory }: World): object {
  return Object.fromEntries(Object.entries(memory.snapshot("/program")).filter(([path]) => path.startsWith("/program/out/")));
}

export interface TreeChanges {
  /** Stands before the script: what it returns is the answer. */
  readonly model?: () => ScriptedReply | undefined | Promise<undefined>;
  /** The description of the tool `note`. */
  readonly note?: string;
}

export function createTreeProgram(
  tree: Plan,
  ledger: Ledger,
  { model, note = "Takes a note." }: TreeChanges = {},
): KillableProgram {
  return {
    files: treeFiles,
    tools: (live) => createTools(ledger, live, note),
    model: async (request) => (await model?.()) ?? play(request, ledger),
    approval: (live) => ({
      mode: "prompt",
      approver: async (request) => {
        await live();
        await setImmediate();
        await live();
        if (!request.why.startsWith("it may have run")) ledger.asked.push(describe(request));
        return answer(request, ledger);
      },
    }),
    input: JSON.stringify(tree),
  };
}

function answer({ args, why, tool: name }: ApprovalRequest, { done }: Ledger): ApprovalDecision {
  const given = String(args["id"]);
  if (why.startsWith("it may have run"))
    return done.includes(given) ? { type: "deny", note: `${name} ${given}` } : { type: "approve" };
  if (args["answer"] === "deny") return { type: "deny", note: "no" };
  if (args["answer"] === "edit") return { type: "approve", args: { id: `${given}-edited`, answer: "approve" } };
  return { type: "approve" };
}

function createTools(ledger: Ledger, live: () => Promise<void>, description: string) {
  const input = z.object({ id: z.string(), answer: z.string() });
  const act = async (name: string, given: string) => {
    await live();
    await setImmediate();
    await live();
    ledger.done.push(given);
    await setImmediate();
    await live();
    return `${name} ${given}`;
  };
  return {
    note: tool({
      description,
      input,
      run: (args) => act("note", args.id),
      reconcile: async ({ canonicalArgs: { id: given } }) =>
        ledger.done.includes(String(given)) ? { done: `note ${given}` } : "not-done",
    }),
    blind: tool({ input, run: (args) => act("blind", args.id) }),
    look: tool({ input, sideEffect: false, approval: "pre-approved", run: (args) => `look ${args.id}` }),
    relay: tool({
      input: z.object({ id: z.string(), chains: z.array(z.array(z.string())) }),
      calls: ["note", "child"],
      replayable: true,
      approval: "pre-approved",
      run: async ({ chains }, runtime) => Promise.all(chains.map((chain) => runChain(chain, runtime))),
    }),
  };
}

async function runChain(chain: readonly string[], runtime: WorkerRuntime): Promise<readonly JsonValue[]> {
  const results: JsonValue[] = [];
  for (const given of chain) {
    await setImmediate();
    results.push(await runtime.call("note", { id: given, answer: "approve" }));
  }
  return results;
}

/** Answers with all that came of the calls, so that an output tells each of them. */
async function play(request: ScriptedRequest, ledger: Ledger) {
  const { messages, turn, callPath } = request;
  ledger.served += 15;
  const usage = { inputTokens: 10, outputTokens: 5 };
  await setImmediate();
  const key = `${callPath} ${turn}`;
  if (key.length % 5 === 0 && !ledger.failed.has(key)) {
    ledger.failed.add(key);
    ledger.served -= 15;
    return { error: { code: "overloaded" as const } };
  }
  const [first] = messages[0]?.parts ?? [];
  const tree = JSON.parse(first?.type === "text" ? first.text : "[]") as Plan;
  const calls = tree[turn - 1];
  if (calls) return { calls: calls.map(({ tool: name, args }) => ({ tool: name, args: args as unknown as JsonValue })), usage };
  const results = messages.flatMap(({ role, parts }) => (role === "tool" ? parts : []));
  return { text: JSON.stringify(callPath === "main" ? { results } : results), usage };
}
