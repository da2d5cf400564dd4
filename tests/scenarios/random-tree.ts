import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { expect } from "vitest";
import { z } from "zod";
import { standingFacts } from "../../src/effects/standing.ts";
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  answerQuestions,
  type JsonValue,
  listQuestions,
  tool,
  toolset,
  type WorkerRuntime,
} from "../../src/index.ts";
import type { ApprovalRequest as Question } from "../../src/protocol/approval.ts";
import type { ScriptedReply, ScriptedRequest } from "../../src/testing/index.ts";
import { worker } from "./harness.ts";
import { type Attempt, attempt, createWorld, directoryOf, type KillableProgram, type World } from "./killable.ts";

/** A call that the model makes in one of its turns, with a name that no other call has. */
type Call =
  | { readonly tool: "note" | "blind" | "look"; readonly args: { readonly id: string; readonly answer: Answer } }
  | { readonly tool: "write_file"; readonly args: { readonly path: string; readonly content: string } }
  | { readonly tool: "relay"; readonly args: { readonly id: string; readonly chains: readonly (readonly string[])[] } }
  | { readonly tool: "plain"; readonly args: { readonly id: string; readonly chains: readonly (readonly string[])[] } }
  /** All calls of it are equal: the first one is approved for the run. */
  | { readonly tool: "common"; readonly args: { readonly id: "common" } }
  | { readonly tool: "linked"; readonly args: { readonly id: string } }
  | { readonly tool: "child"; readonly args: { readonly input: string } }
  /** In the next turn the created worker is called with `plan`; a name with `refused` is denied. */
  | { readonly tool: "worker_create"; readonly args: { readonly name: string }; readonly plan: string };
type Answer = "approve" | "deny" | "edit";
export type Plan = readonly (readonly Call[])[];

let count = 0;
const id = fc.constant(undefined).map(() => `id${count++}`);

const answered = fc.record({ id, answer: fc.constantFrom<Answer>("approve", "approve", "approve", "deny", "edit") });
const noteOrLook = fc.record({ tool: fc.constantFrom("note" as const, "look" as const), args: answered });

const leaf: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ tool: fc.constantFrom("note" as const, "blind" as const, "look" as const), args: answered }),
  id.map((name): Call => ({ tool: "write_file", args: { path: `out/${name}.txt`, content: name } })),
  fc.constant<Call>({ tool: "common", args: { id: "common" } }),
  fc.record({ tool: fc.constant("linked" as const), args: fc.record({ id }) }),
  fc.record({
    tool: fc.constantFrom("relay" as const, "relay" as const, "plain" as const),
    args: fc.record({ id, chains: fc.array(fc.array(id, { maxLength: 2 }), { minLength: 1, maxLength: 3 }) }),
  }),
);

/** Creates a worker that notes and looks. */
const creation = fc.record({
  tool: fc.constant("worker_create" as const),
  args: fc
    .tuple(id, fc.constantFrom("made", "made", "made", "refused"))
    .map(([name, kind]) => ({ name: `${kind}_${name}`, instructions: "Do it.", toolsets: { note: {}, look: {} } })),
  plan: fc
    .array(fc.array(noteOrLook, { minLength: 1, maxLength: 2 }), { maxLength: 2 })
    .map((plan: Plan) => JSON.stringify(plan)),
});

/** Plans of calls, at most `depth` workers deep. */
export function randomPlan(depth: number): fc.Arbitrary<Plan> {
  const call =
    depth === 0
      ? leaf
      : fc.oneof(
          { weight: 6, arbitrary: leaf },
          { weight: 1, arbitrary: creation },
          {
            weight: 2,
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

/** What was asked of the person who answers the questions of held runs. */
export interface HeldAnswers {
  readonly answered: Set<string>;
  /** How often it was asked whether a call is made again, by its path. */
  readonly repetitions: Map<string, number>;
}

/**
 * Answers questions of a run that is suspended or was killed: those that `chosen` has a bit for, or else all. Asserts that each is answered
 * once, and that nobody is asked more often whether a call is made again than the run was killed, or, for code, ended.
 */
export async function answerHeld(
  { world, ledger }: Omit<UndisturbedRun, "attempt">,
  { answered, repetitions }: HeldAnswers,
  { kills, attempts, chosen }: { readonly kills: number; readonly attempts: number; readonly chosen: number },
): Promise<number> {
  const directory = await directoryOf(world);
  if (directory === undefined) throw new Error("there is no run");
  const processes = { self: "memory answers", isRunning: (owner: string) => world.processes.has(owner) };
  const run = { directory, host: { ...world.memory, processes } };
  const { questions } = await listQuestions(run);
  const open = questions.filter((question) => question.answer === undefined);
  const some = open.filter((_, index) => (chosen >> index) % 2 === 1);
  const settled = some.length > 0 ? some : open;
  for (const { id: question, callPath, key } of settled) {
    if (key.endsWith("again")) repetitions.set(callPath, (repetitions.get(callPath) ?? 0) + 1);
    else expect(answered).not.toContain(question);
    expect(repetitions.get(callPath) ?? 0).toBeLessThanOrEqual(callPath.endsWith(".plain") ? attempts : kills);
    answered.add(question);
  }
  const answers = settled.map(({ id: question, request }) => ({ id: question, decision: answer(request, ledger) }));
  if (answers.length > 0) await answerQuestions({ ...run, answers });
  return answers.length;
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
toolsets: { note: {}, blind: {}, look: {}, relay: {}, plain: {}, common: {}, links: {}, child: {}, filesystem: {}, dynamic_workers: {} }`,
  ),
  "child.worker": worker(
    `description: c
sandbox: { paths: { out: { root: ./out, mode: rw } } }
toolsets: { note: {}, blind: {}, look: {}, relay: {}, plain: {}, common: {}, links: {}, child: {}, filesystem: {}, dynamic_workers: {} }`,
  ),
};

export function createTreeWorld(): World {
  return createWorld(treeFiles, { note: 0, blind: 0, look: 0, relay: 0, plain: 0, common: 0, links: 0 });
}

export function createLedger(): Ledger {
  return { done: [], asked: [], served: 0, failed: new Set() };
}

function filesOf({ memory }: World): object {
  return Object.fromEntries(
    Object.entries(memory.snapshot("/program")).filter(([path]) => /^\/program\/(?:out|workers)\//.test(path)),
  );
}

export interface TreeChanges {
  /** Stands before the script: what it returns is the answer. */
  readonly model?: () => ScriptedReply | undefined | Promise<undefined>;
  /** The description of the tool `note`. */
  readonly note?: string;
  /** Nobody is there: questions are held. */
  readonly isHeld?: boolean;
}

export function createTreeProgram(
  tree: Plan,
  ledger: Ledger,
  { model, note = "Takes a note.", isHeld = false }: TreeChanges = {},
): KillableProgram {
  return {
    files: treeFiles,
    tools: (live) => createTools(ledger, live, note),
    model: async (request) => (await model?.()) ?? play(request, ledger),
    approval: (live) => {
      const approver = createApprover(ledger, live);
      return isHeld ? { mode: "prompt", onUnanswered: "hold" } : { mode: "prompt", approver, settle: approver };
    },
    input: JSON.stringify(tree),
  };
}

function createApprover(ledger: Ledger, live: () => Promise<void>): Approver {
  return async (request) => {
    await live();
    await setImmediate();
    await live();
    if (!request.why.startsWith("it may have run")) ledger.asked.push(describe(request));
    return answer(request, ledger);
  };
}

function answer({ args, why, tool: name, callPath }: ApprovalRequest, { done }: Ledger): ApprovalDecision {
  const given = String(args["id"]);
  const isDone = done.includes(given) || done.includes(`${given} ${callPath}`);
  if (why.startsWith("it may have run")) return isDone ? { type: "deny", note: `${name} ${given}` } : { type: "approve" };
  if (name === "common") return { type: "approve", remember: "run" };
  const isRefused = name === "worker_create" && String(args["name"]).startsWith("refused");
  if (isRefused || args["answer"] === "deny") return { type: "deny", note: "no" };
  if (args["answer"] === "edit") return { type: "approve", args: { id: `${given}-edited`, answer: "approve" } };
  return { type: "approve" };
}

function createTools(ledger: Ledger, live: () => Promise<void>, description: string) {
  const input = z.object({ id: z.string(), answer: z.string() });
  const act = async (name: string, given: string, effect = given) => {
    await live();
    await setImmediate();
    await live();
    ledger.done.push(effect);
    await setImmediate();
    await live();
    return `${name} ${given}`;
  };
  const relay = {
    input: z.object({ id: z.string(), chains: z.array(z.array(z.string())) }),
    calls: ["note", "child"],
    approval: "pre-approved" as const,
    run: async ({ chains }: { readonly chains: readonly (readonly string[])[] }, runtime: WorkerRuntime) =>
      Promise.all(chains.map((chain) => runChain(chain, runtime))),
  };
  const linked = tool({
    name: "linked",
    description: "A tool of a server.",
    input: z.object({ id: z.string() }),
    approval: "pre-approved",
    run: (args) => act("linked", args.id),
    reconcile: async ({ canonicalArgs: { id: given } }) =>
      ledger.done.includes(String(given)) ? { done: `linked ${given}` } : "not-done",
  });
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
    common: tool({
      input: z.object({ id: z.string() }),
      run: (args, { callPath }) => act("common", args.id, `${args.id} ${callPath}`),
    }),
    relay: tool({ ...relay, replayable: true }),
    plain: tool(relay),
    links: toolset({
      name: "links",
      connect: async () => {
        await live();
        return { tools: [linked] };
      },
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
  const calls = [...(tree[turn - 1] ?? []), ...callsOfCreated(tree[turn - 2] ?? [], request)];
  if (calls.length > 0)
    return { calls: calls.map(({ tool: name, args }) => ({ tool: name, args: args as unknown as JsonValue })), usage };
  const results = messages.flatMap(({ role, parts }) => (role === "tool" ? parts : []));
  return { text: JSON.stringify(callPath === "main" ? { results } : results), usage };
}

/** Calls what the turn before created: what was denied is not offered. */
function callsOfCreated(before: readonly Call[], { tools }: ScriptedRequest) {
  const created = before.filter((call) => call.tool === "worker_create");
  const offered = created.filter(({ args }) => tools.some(({ name }) => name === args.name));
  return offered.map(({ args, plan }) => ({ tool: args.name, args: { input: plan } }));
}
