import { expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalDecision, type ApprovalRequest, type Approver, tool } from "../../src/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { worker } from "./harness.ts";
import { attempt, createWorld, expectReplays, type KillableProgram } from "./killable.ts";

interface Approving {
  readonly asked?: string[];
  readonly decide?: (request: ApprovalRequest) => ApprovalDecision;
  readonly gateEntry?: boolean;
}

function approving({
  asked = [],
  decide = () => ({ type: "approve" }),
  gateEntry = false,
}: Approving): KillableProgram["approval"] {
  return (live) => {
    const approver: Approver = async (request) => {
      await live();
      asked.push(`${request.callPath} ${request.tool}`);
      return decide(request);
    };
    return { mode: "prompt", gateEntry, approver, settle: approver };
  };
}

/** Kills a run before each of its entries, or each `step`th, and asserts that it comes to the same output, and asks nothing twice. */
async function killAtEach(create: (asked: string[]) => KillableProgram, seen: { uncertain: number }, step = 1): Promise<void> {
  const questions: string[] = [];
  const whole = create(questions);
  const { result, record } = await attempt(createWorld(whole.files), whole);
  expect(result?.stopReason).toBe("done");
  for (let kill = 2; kill <= record.facts.length; kill += step) {
    const asked: string[] = [];
    const program = create(asked);
    const world = createWorld(program.files);
    const killed = await attempt(world, program, kill);
    expect(killed.wasKilled).toBe(true);
    const answers = killed.record.facts.filter((fact) => fact.type === "result" && fact.kind === "question").length;
    const before = asked.length;
    const { result: again, error } = await attempt(world, program);
    if (error) throw error;
    expect(again?.output).toEqual(result?.output);
    await expectReplays(world, program);
    // A question whose answer was lost is asked again, and so is a call that may have run.
    expect(asked.length - before).toBeLessThanOrEqual(questions.length - answers + 1);
    seen.uncertain += asked.length - before - (questions.length - answers);
  }
}

test("names all calls that may have run at once, and decides each by itself", async () => {
  const ids = ["a", "b", "c"];
  const begun: string[] = [];
  let hangs = true;
  const note = tool({
    input: z.object({ id: z.string() }),
    approval: "pre-approved",
    run: async ({ id }) => {
      begun.push(id);
      if (hangs) await new Promise<never>(() => undefined);
      return `did ${id}`;
    },
  });
  const model: Script = ({ turn, toolResults }) =>
    turn === 1
      ? { calls: ids.map((id) => ({ tool: "note", args: { id } })) }
      : JSON.stringify(toolResults().map(({ result }) => result.ok && result.value));
  const files = { "main.worker": worker("toolsets: { note: {} }") };
  const program = { files, tools: () => ({ note }), model, approval: () => ({ mode: "prompt" as const }), input: "go" };
  const world = createWorld(files, { note: 0 });
  void attempt(world, program);
  await expect.poll(() => begun.length).toBe(3);
  world.processes.clear();
  hangs = false;
  const { error } = await attempt(world, program);
  expect(error).toMatchObject({ code: "uncertain" });
  for (const [index, id] of ids.entries())
    expect(String(error)).toMatch(new RegExp(`"${id}".* \\(main/${index}\\.note\\) may have run already`));
  const decide = ({ args }: ApprovalRequest): ApprovalDecision =>
    args["id"] === "b" ? { type: "approve" } : { type: "deny", note: `${args["id"]} by hand` };
  const attended = await attempt(world, { ...program, approval: approving({ decide }) });
  expect(attended.result?.output).toBe('["a by hand","did b","c by hand"]');
  expect(begun).toEqual(["a", "b", "c", "b"]);
});

test("goes on with the workers that a run created, from any entry", async () => {
  const files = { "main.worker": worker("toolsets: { dynamic_workers: {} }") };
  const echo = { name: "echo", instructions: "Say it again." };
  const model: Script = ({ worker: name, turn, toolResults }) => {
    if (name === "echo") return "echoed";
    if (turn === 1) return { calls: [{ tool: "worker_create", args: echo }] };
    if (turn === 2) return { calls: [{ tool: "echo", args: { input: "hello" } }] };
    return JSON.stringify(toolResults().map(({ result }) => result.ok));
  };
  const seen = { uncertain: 0 };
  await killAtEach((asked) => ({ files, tools: () => ({}), model, approval: approving({ asked }), input: "go" }), seen);
  expect(seen.uncertain).toBe(0);
});

test("goes on without the workers that a run created among those that its program has, from any entry", async () => {
  const files = {
    "main.worker": worker('toolsets: { dynamic_workers: {}, delegation: { allow_workers: ["made_*"] } }'),
    "workers/made_before.worker": worker("description: b"),
  };
  const made = (name: string) => ({ tool: "worker_create", args: { name, instructions: `You are ${name}.`, force: true } });
  const call = (name: string) => ({ tool: "worker_call", args: { worker: name, input: "hello" } });
  const model: Script = ({ worker: name, turn, tools, toolResults }) => {
    if (name !== "main") return `I am ${name}`;
    const known = tools.find((tool) => tool.name === "worker_call")?.description ?? "";
    expect(known.split("\n").slice(1)).toEqual(["made_before: b"]);
    if (turn === 1) return { calls: [made("made_one"), made("made_two")] };
    if (turn === 2) return { calls: [made("made_one")] };
    if (turn === 3) return { calls: [call("made_one"), call("made_two"), call("made_before")] };
    return JSON.stringify(toolResults().map(({ result }) => result.ok && result.value));
  };
  const seen = { uncertain: 0 };
  await killAtEach((asked) => ({ files, tools: () => ({}), model, approval: approving({ asked }), input: "go" }), seen, 3);
});

test("asks once for the start of the entry, and begins with the input that was approved, from any entry", async () => {
  const files = { "main.worker": worker("sandbox: { paths: {} }") };
  const model: Script = ({ turn, lastUserText }) => (turn === 1 ? `about ${lastUserText()}` : "again");
  const decide = (): ApprovalDecision => ({ type: "approve", args: { input: "edited" } });
  const seen = { uncertain: 0 };
  await killAtEach(
    (asked) => ({ files, tools: () => ({}), model, approval: approving({ asked, decide, gateEntry: true }), input: "go" }),
    seen,
  );
  expect(seen.uncertain).toBe(0);
});
