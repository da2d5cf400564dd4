import { expect, test } from "vitest";
import { answerQuestions, listQuestions, type RunError, tool } from "../../src/index.ts";
import { worker } from "./harness.ts";
import { attempt, createWorld, directoryOf, expectReplays, type KillableProgram, type World } from "./killable.ts";

/** A run that holds its questions, and the person who answers them. */
function openDesk(world: World) {
  const run = async () => ({ directory: (await directoryOf(world)) ?? "", host: { ...world.memory, processes: nobody } });
  const waiting = async () => (await listQuestions(await run())).questions.filter((one) => one.answer === undefined);
  const answer = async (type: "approve" | "deny") => {
    const answers = (await waiting()).map(({ id }) => ({ id, decision: { type } }));
    await answerQuestions({ ...(await run()), answers });
    return answers.length;
  };
  return { waiting, answer };
}

const nobody = { self: "memory person", isRunning: () => false };
const files = { "main.worker": worker("toolsets: { pay: {} }") };
const model: KillableProgram["model"] = ({ turn }) => (turn === 1 ? { calls: [{ tool: "pay" }] } : "done");

test("an answer that lets a call run again holds for one repetition", async () => {
  const ledger: string[] = [];
  let deaths = 2;
  const world = createWorld(files, { pay: 0 });
  const pay = tool({
    input: { type: "object" },
    approval: "pre-approved",
    run: async () => {
      ledger.push("paid");
      if (deaths-- > 0) {
        world.processes.clear();
        await new Promise<never>(() => undefined);
      }
      return "ok";
    },
  });
  const held = { mode: "prompt", onUnanswered: "hold" } as const;
  const program = { files, tools: () => ({ pay }), model, approval: () => held, input: "go" };
  const desk = openDesk(world);
  // A tool that never ends: its process is dead by then.
  const dying = () => Promise.race([attempt(world, program), new Promise((end) => setTimeout(end, 300))]);
  await dying();
  expect(await attempt(world, program)).toMatchObject({ error: { code: "uncertain" } });
  expect(await desk.answer("approve")).toBe(1);
  await dying();
  expect(ledger).toEqual(["paid", "paid"]);
  expect(await attempt(world, program)).toMatchObject({ error: { code: "uncertain" } });
  expect(ledger).toEqual(["paid", "paid"]);
  expect(await desk.waiting()).toMatchObject([{ callPath: "main/0.pay", key: "again" }]);
  await desk.answer("approve");
  expect(await attempt(world, program)).toMatchObject({ result: { output: "done" } });
  expect(ledger).toEqual(["paid", "paid", "paid"]);
  expect(await desk.waiting()).toEqual([]);
  await expectReplays(world, program);
});

test("a question whose denial stopped the run is put again when it goes on", async () => {
  const world = createWorld(files, { pay: 0 });
  const pay = tool({ input: { type: "object" }, run: () => "ok" });
  const approval = () => ({ mode: "prompt", onUnanswered: "hold", onDenied: "stop" }) as const;
  const program = { files, tools: () => ({ pay }), model, approval, input: "go" };
  const desk = openDesk(world);
  const codeOf = async () => ((await attempt(world, program)).error as RunError | undefined)?.code;
  expect(await codeOf()).toBe("suspended");
  await desk.answer("deny");
  expect(await codeOf()).toBe("denied");
  expect(await codeOf()).toBe("suspended");
  expect(await desk.answer("approve")).toBe(1);
  expect(await codeOf()).toBeUndefined();
  await expectReplays(world, program);
});
