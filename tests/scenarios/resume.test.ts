import { expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalDecision, type ApprovalRequest, type Limits, RunError, tool, toolset } from "../../src/index.ts";
import { noUsage } from "../../src/protocol/usage.ts";
import type { Script } from "../../src/testing/index.ts";
import { dropSecrets, runsIn, withFolders } from "../records.ts";
import { worker } from "./harness.ts";
import { attempt, createWorld, expectReplays, type KillableProgram, type World } from "./killable.ts";

const usage = { inputTokens: 100, outputTokens: 10 };

interface Played {
  readonly files?: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly model: Script;
  readonly decide?: (tool: string, why: string) => ApprovalDecision;
}

function createProgram({ files = {}, tools = {}, model, decide }: Played): { world: World; program: KillableProgram } {
  const all = { "main.worker": worker("toolsets: { note: {} }"), ...files };
  const program = {
    files: all,
    tools: () => tools as never,
    model,
    approval: () => ({
      mode: "prompt" as const,
      ...(decide ? { approver: async (request: { tool: string; why: string }) => decide(request.tool, request.why) } : {}),
    }),
    input: "go",
  };
  return { world: createWorld(all, tools), program };
}

/** A tool that counts its executions. */
function counting(done: string[], more: object = {}) {
  const input = z.object({ id: z.string() });
  return tool({
    input,
    approval: "pre-approved",
    run: ({ id }) => {
      done.push(id);
      return `did ${id}`;
    },
    ...more,
  });
}

const twoTurns: Script = ({ turn }) =>
  turn <= 2 ? { calls: [{ tool: "note", args: { id: `n${turn}` } }], usage } : { text: "done", usage };

test.each<[string, Limits, Limits]>([
  ["turns", { turns: 2 }, { turns: 10 }],
  ["tokens", { tokens: 280 }, { tokens: 100_000 }],
  ["tool calls", { tool_calls: 1 }, { tool_calls: 10 }],
])("goes on after a limit of %s that is raised", async (_, limits, raised) => {
  const done: string[] = [];
  const { world, program } = createProgram({ tools: { note: counting(done) }, model: twoTurns });
  const first = await attempt(world, program, undefined, { limits });
  expect(first.result).toMatchObject({ stopReason: "limit" });
  const before = done.length;
  const second = await attempt(world, program, undefined, { limits: raised });
  expect(second.error).toBeUndefined();
  expect(second.result).toMatchObject({ output: "done", stopReason: "done" });
  expect(done).toEqual(["n1", "n2"]);
  expect(before).toBeLessThan(2);
  // Usage includes the last turn under the limit.
  expect(second.result?.usage.requests).toBeGreaterThan(3);
});

test("keeps the turns that were taken before a limit was lowered, and replays so", async () => {
  const done: string[] = [];
  const asked: string[] = [];
  const model: Script = (request) => {
    asked.push(`${request.turn}: ${request.toolResults().length}`);
    return twoTurns(request);
  };
  const { world, program } = createProgram({ tools: { note: counting(done) }, model });
  const first = await attempt(world, program, 14, { limits: { turns: 10 } });
  expect({ wasKilled: first.wasKilled, done }).toEqual({ wasKilled: true, done: ["n1", "n2"] });
  asked.length = 0;
  const second = await attempt(world, program, undefined, { limits: { turns: 1 } });
  expect(second.result).toMatchObject({ stopReason: "limit", reason: expect.stringContaining("1 turn") });
  expect({ done, asked }).toEqual({ done: ["n1", "n2"], asked: ["3: 1"] });
  await expectReplays(world, program);
});

test("goes on in the calls of workers that met a limit of the run", async () => {
  const files = {
    "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
    "child.worker": worker("description: c\ntoolsets: { note: {} }"),
  };
  const done: string[] = [];
  const model: Script = (request) => {
    if (request.worker === "child") return twoTurns(request);
    if (request.turn === 1) return { calls: [{ tool: "child", args: { input: "x" } }], usage };
    return { text: JSON.stringify(request.toolResults().map(({ result }) => result)), usage };
  };
  const { world, program } = createProgram({ files, tools: { note: counting(done) }, model });
  const first = await attempt(world, program, undefined, { limits: { tokens: 700 } });
  expect(first.result).toMatchObject({ stopReason: "limit" });
  const second = await attempt(world, program, undefined, { limits: { tokens: 100_000 } });
  expect(second.result?.output).toBe('[{"ok":true,"value":"done"}]');
  expect(done).toEqual(["n1", "n2"]);
});

test("asks again what stopped the run, and nothing else", async () => {
  const asked: string[] = [];
  let isStopping = true;
  const done: string[] = [];
  const tools = { note: counting(done, { approval: "ask" }) };
  const decide = (): ApprovalDecision => {
    asked.push(String(asked.length));
    return isStopping && asked.length === 2 ? { type: "stop" } : { type: "approve" };
  };
  const { world, program } = createProgram({ tools, model: twoTurns, decide });
  expect((await attempt(world, program)).error).toMatchObject({ code: "denied" });
  isStopping = false;
  expect((await attempt(world, program)).result?.output).toBe("done");
  expect(asked).toHaveLength(3);
  expect(done).toEqual(["n1", "n2"]);
});

test("goes on past what was denied before the policy stopped for denials", async () => {
  const asked: string[] = [];
  const done: string[] = [];
  let last: ApprovalDecision = { type: "deny" };
  const note = counting(done, { approval: "ask" });
  const { world, program } = createProgram({ tools: { note }, model: twoTurns });
  const approver = async ({ args }: ApprovalRequest): Promise<ApprovalDecision> => {
    asked.push(String(args["id"]));
    return args["id"] === "n1" ? { type: "deny" } : last;
  };
  const approval = (onDenied: "return" | "stop") => ({ approval: { mode: "prompt", onDenied, approver } });
  expect((await attempt(world, program, undefined, { ...approval("return"), limits: { turns: 2 } })).result).toBeDefined();
  expect(asked).toEqual(["n1"]);
  const stopped = await attempt(world, program, undefined, { ...approval("stop"), limits: { turns: 9 } });
  expect(stopped.error).toMatchObject({ code: "denied" });
  expect(asked).toEqual(["n1", "n2"]);
  await expectReplays(world, program);
  last = { type: "approve" };
  expect((await attempt(world, program, undefined, approval("stop"))).result?.output).toBe("done");
  expect(asked).toEqual(["n1", "n2", "n2"]);
  expect(done).toEqual(["n2"]);
  await expectReplays(world, program);
});

test("makes a request again that failed after its retries", async () => {
  let isDown = true;
  const done: string[] = [];
  const model: Script = (request) => (isDown && request.turn === 2 ? { error: { code: "overloaded" } } : twoTurns(request));
  const { world, program } = createProgram({ tools: { note: counting(done) }, model });
  expect((await attempt(world, program)).error).toMatchObject({ code: "provider" });
  expect((await attempt(world, program)).error).toMatchObject({ code: "provider" });
  isDown = false;
  expect((await attempt(world, program)).result?.output).toBe("done");
  expect(done).toEqual(["n1", "n2"]);
});

test.each<[string, object]>([
  ["asked again under another number", {}],
  ["not asked again, under a lower limit", { limits: { tokens: 100 } }],
])("counts and replays a request whose outcome a kill lost, and that is %s", async (_, more) => {
  let lost = 0;
  for (let kill = 2; ; kill++) {
    let failures = 0;
    const model: Script = (request) =>
      request.turn === 2 && failures++ === 0 ? { error: { code: "overloaded" } } : twoTurns(request);
    const note = counting([], { reconcile: async () => ({ done: "did it" }) });
    const { world, program } = createProgram({ tools: { note }, model });
    if (!(await attempt(world, program, kill)).wasKilled) break;
    const { error, result } = await attempt(world, program, undefined, more);
    expect(error).toBeUndefined();
    if ((result?.usage.unknownTokens ?? 0) > 0) lost++;
    await expectReplays(world, program);
  }
  // The first request, the second one, its repetition, and the last one.
  expect(lost).toBe(4);
});

test("goes on with more patience than the run began with", async () => {
  let isSlow = true;
  const done: string[] = [];
  const main = worker("toolsets: { note: {} }");
  const model: Script = (request) => (isSlow && request.turn === 2 ? { error: { code: "timeout" } } : twoTurns(request));
  const { world, program } = createProgram({ files: { "main.worker": main }, tools: { note: counting(done) }, model });
  expect((await attempt(world, program)).error).toMatchObject({ code: "provider" });
  isSlow = false;
  const patient = "model_settings: { timeout: 3600, connect_timeout: 60, max_retries: 9, max_retry_wait: 90 }\ntoolsets:";
  world.memory.put("/program/main.worker", main.replace("toolsets:", patient));
  expect((await attempt(world, program)).result?.output).toBe("done");
  expect(done).toEqual(["n1", "n2"]);
});

test("asks again for an answer that does not fit its schema", async () => {
  let isWrong = true;
  const files = { "main.worker": worker("output: { type: object, properties: { n: { type: number } }, required: [n] }") };
  const { world, program } = createProgram({ files, model: () => (isWrong ? "wrong" : '{"n":1}') });
  expect((await attempt(world, program)).error).toMatchObject({ code: "output_invalid" });
  isWrong = false;
  expect((await attempt(world, program)).result?.output).toEqual({ n: 1 });
});

const changes: [string, (main: string) => string, string][] = [
  [
    "the instructions",
    (text) => text.replace("Do it.", "Do it well."),
    'main, turn 1: the instructions changed: "Do it well." was "Do it."',
  ],
  ["the tools", (text) => text.replace("toolsets: { note: {} }", "description: d"), "main, turn 1: the tool `note` was removed"],
  [
    "the settings",
    (text) => text.replace("toolsets:", "model_settings: { temperature: 0.5 }\ntoolsets:"),
    "main, turn 1: the model settings changed",
  ],
];

test.each(changes)("says in words that %s changed", async (_, change, expected) => {
  const main = worker("toolsets: { note: {} }", "One.\nDo it.");
  const { world, program } = createProgram({ files: { "main.worker": main }, tools: { note: counting([]) }, model: twoTurns });
  await attempt(world, program, 11);
  world.memory.put("/program/main.worker", change(main));
  const { error, events } = await attempt(world, program);
  expect(error).toMatchObject({ code: "changed" });
  expect(String(error)).toContain(expected);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "warning", message: expect.stringMatching(/^changed since the run began: main.worker/) }),
  );
  world.memory.put("/program/main.worker", main);
  expect((await attempt(world, program)).result?.output).toBe("done");
});

test("does nothing under an entry of another name, which has made none of the recorded calls", async () => {
  const done: string[] = [];
  const files = { "second.worker": worker("toolsets: { note: {} }") };
  const { world, program } = createProgram({ files, tools: { note: counting(done) }, model: twoTurns });
  await attempt(world, program, 11);
  const before = [...done];
  expect(before).toHaveLength(1);
  const { error } = await attempt(world, program, undefined, { target: "/program/second.worker" });
  expect(String(error)).toContain("this run began with `main`, and this program begins with `second`: go on with the same entry");
  expect(done).toEqual(before);
  expect((await attempt(world, program)).result?.output).toBe("done");
  expect(done).toEqual(["n1", "n2"]);
});

test("refuses a run that has ended, and one that another process executes", async () => {
  let goOn = (): void => undefined;
  const started = Promise.withResolvers<void>();
  const model: Script = async () => {
    started.resolve();
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return "done";
  };
  const { world, program } = createProgram({ files: { "main.worker": worker("") }, model });
  const first = attempt(world, program);
  await started.promise;
  const owner = { processes: { self: "memory 9", isRunning: () => true } };
  const second = await attempt(world, program, undefined, { host: { ...world.memory, ...owner } });
  expect(second.error).toMatchObject({
    code: "configuration",
    message: expect.stringContaining("another process executes this run"),
  });
  goOn();
  expect((await first).result?.output).toBe("done");
  expect((await attempt(world, program)).error).toMatchObject({
    code: "configuration",
    message: expect.stringContaining("has ended"),
  });
});

test("says what is gone of a run, and whose lock it waits for", async () => {
  const tools = { note: counting([]) };
  const { world, program } = createProgram({ tools, model: twoTurns });
  await attempt(world, program, 11);
  const importModule = async () => tools;
  const processes = { self: "memory 9", isRunning: () => false };
  const locked = () => Promise.reject(Object.assign(new Error("ELOCKED"), { code: "ELOCKED" }));
  const host = { ...world.memory, importModule, processes };
  const files = withFolders(world.memory.files, () => ({ alone: locked }));
  const { error } = await attempt(world, program, undefined, { host: { ...host, files } });
  expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^\/home\/\S+ cannot be locked: /) });
  const elsewhere = attempt(world, program, undefined, { host, directory: `${runsIn("/program")}/20260101-000000-nothing` });
  expect(String((await elsewhere).error)).toContain(
    "there is no run `20260101-000000-nothing` in /home/user/.local/state/llm-do/runs",
  );
});

test("warns where the secrets of a run are gone", async () => {
  const model: Script = (request) =>
    request.turn === 1 ? { calls: [{ tool: "note", args: { id: `ghp_${"a1B2".repeat(9)}` } }] } : twoTurns(request);
  const { world, program } = createProgram({ tools: { note: counting([]) }, model });
  await attempt(world, program, 11);
  const [id] = await world.memory.files.names(runsIn("/program"));
  await dropSecrets(world.memory, `${runsIn("/program")}/${id}`);
  const { events } = await attempt(world, program);
  const message = expect.stringMatching(/^the secrets of this run are gone/);
  expect(events).toContainEqual(expect.objectContaining({ type: "warning", message }));
});

test("reads the journal again where its process ended meanwhile", async () => {
  const { world, program } = createProgram({ tools: { note: counting([]) }, model: twoTurns });
  const { record } = await attempt(world, program, 6);
  const [path = "", text = ""] =
    Object.entries(world.memory.snapshot(runsIn("/program"))).find(([name]) => name.endsWith("/journal.jsonl")) ?? [];
  const end = { v: 2, n: record.facts.length, time: 0, type: "run-end", stopReason: "done", denied: 0, usage: noUsage };
  const isRunning = () => {
    world.memory.put(path, `${text}${JSON.stringify(end)}\n`);
    return false;
  };
  const importModule = async () => program.tools(async () => undefined);
  const host = { ...world.memory, processes: { self: "memory 9", isRunning }, importModule };
  expect(String((await attempt(world, program, undefined, { host })).error)).toContain("this run has ended");
});

test("a run of another machine is taken over on request alone", async () => {
  const { world, program } = createProgram({ tools: { note: counting([]) }, model: twoTurns });
  await attempt(world, program, 6);
  const host = {
    ...world.memory,
    processes: { self: "memory 9", isRunning: () => undefined },
    importModule: async () => program.tools(async () => undefined),
  };
  const refused = await attempt(world, program, undefined, { host });
  expect(String(refused.error)).toContain("--take-over");
  expect((await attempt(world, program, undefined, { host, takeOver: true })).result?.output).toBe("done");
});

const once: Script = ({ turn, toolResults }) =>
  turn === 1 ? { calls: [{ tool: "note", args: { id: "a" } }] } : JSON.stringify(toolResults().map(({ result }) => result));

/** The world's number of entries up to the intent of the tool, so that it is killed before the result. */
async function killAtResult(world: World, program: KillableProgram) {
  const clean = createWorld(
    program.files,
    program.tools(async () => undefined),
  );
  const { record } = await attempt(clean, program);
  const index = record.facts.findIndex((fact) => fact.type === "result" && fact.kind === "tool");
  return attempt(world, program, index + 1);
}

test("a side effect that may have happened is not repeated without a person", async () => {
  const done: string[] = [];
  const { world, program } = createProgram({ tools: { note: counting(done) }, model: once });
  await killAtResult(world, program);
  done.length = 0;
  const unattended = await attempt(world, program);
  expect(unattended.error).toBeInstanceOf(RunError);
  expect(unattended.error).toMatchObject({ code: "uncertain", callPath: "main/0.note" });
  expect(String(unattended.error)).toContain("may have run already");
  await expectReplays(world, program);
  const approving = { ...program, approval: () => ({ mode: "approve_all" as const }) };
  expect((await attempt(world, approving)).error).toMatchObject({ code: "uncertain" });
  const allowing = {
    ...program,
    approval: () => ({ mode: "prompt" as const, approver: async () => ({ type: "approve" as const }) }),
  };
  expect((await attempt(world, allowing)).error).toMatchObject({ code: "uncertain" });
  const approval = () => ({ mode: "prompt" as const, settle: async () => ({ type: "deny" as const, note: "did it by hand" }) });
  const attended = await attempt(world, { ...program, approval });
  expect(attended.result?.output).toBe('[{"ok":true,"value":"did it by hand"}]');
  expect(attended.result?.denied).toEqual([]);
  expect(done).toEqual([]);
  await expectReplays(world, program);
});

test.each<[string, readonly ApprovalDecision[], readonly string[]]>([
  ["is run again", [{ type: "approve" }], ["a"]],
  ["is run again after a stop", [{ type: "stop" }, { type: "approve" }], ["a"]],
  ["stops the run", [{ type: "stop" }], []],
])("a side effect that may have happened %s by a person, and its replay is the same", async (_, answers, expected) => {
  const done: string[] = [];
  const { world, program } = createProgram({ tools: { note: counting(done) }, model: once });
  await killAtResult(world, program);
  done.length = 0;
  for (const answer of answers) {
    const approval = () => ({ mode: "prompt" as const, settle: async () => answer });
    const { error } = await attempt(world, { ...program, approval });
    expect(error).toEqual(answer.type === "stop" ? expect.objectContaining({ code: "denied" }) : undefined);
    await expectReplays(world, program);
  }
  expect(done).toEqual(expected);
});

test("code that is replayable is entered again, and does each step once", async () => {
  const steps: string[] = [];
  const times: number[] = [];
  let killAt = 2;
  const code = (more: object) =>
    tool({
      input: z.object({ id: z.string() }),
      calls: [],
      approval: "pre-approved",
      run: async (_, runtime) => {
        times.push(await runtime.now());
        const results = [];
        for (const name of ["one", "two", "three"])
          results.push(
            await runtime.step(name, async () => {
              steps.push(name);
              if (steps.length === killAt) await new Promise<never>(() => undefined);
              return `${name}!`;
            }),
          );
        return results;
      },
      ...more,
    });
  const { world, program } = createProgram({ tools: { note: code({ replayable: true }) }, model: once });
  const running = attempt(world, program, undefined);
  await expect.poll(() => steps.length).toBe(2);
  killAt = -1;
  void running;
  world.processes.clear();
  world.memory.clock.advance(5000);
  const { result, error } = await attempt(world, program);
  expect(error).toBeUndefined();
  expect(result?.output).toBe('[{"ok":true,"value":["one!","two!","three!"]}]');
  expect(steps).toEqual(["one", "two", "two", "three"]);
  expect(times[1]).toBe(times[0]);
});

test.each(["approve", "deny", "stop"] as const)(
  "code that does not declare it is not entered again unasked: %s",
  async (type) => {
    let entered = 0;
    const note = tool({
      input: z.object({ id: z.string() }),
      calls: [],
      approval: "pre-approved",
      run: async (_, runtime) => {
        await runtime.step("one", () => 1);
        return ++entered === 1 ? new Promise<never>(() => undefined) : "ran";
      },
    });
    const { world, program } = createProgram({ tools: { note }, model: once });
    void attempt(world, program);
    await expect
      .poll(async () =>
        Object.values(world.memory.snapshot(runsIn("/program")))
          .join("")
          .includes('"type":"result","callPath":"main/0.note"'),
      )
      .toBe(true);
    world.processes.clear();
    expect((await attempt(world, program)).error).toMatchObject({ code: "uncertain", callPath: "main/0.note" });
    await expectReplays(world, program);
    const approval = () => ({ mode: "prompt" as const, settle: async () => ({ type, note: "did it" }) });
    const { result } = await attempt(world, { ...program, approval });
    const value = { approve: "ran", deny: "did it", stop: undefined }[type];
    expect(result?.output).toBe(value && JSON.stringify([{ ok: true, value }]));
    await expectReplays(world, program);
  },
);

test("a limit of seconds counts the time of all attempts", async () => {
  const { world, program } = createProgram({
    model: async ({ turn }) => {
      await world.memory.clock.advance(6000);
      return turn === 1 ? { calls: [{ tool: "note", args: { id: "a" } }] } : "done";
    },
    tools: { note: counting([]) },
  });
  const limited = { ...program, hasClock: true };
  const { record, wasKilled } = await attempt(world, limited, 9, { limits: { seconds: 10 } });
  expect(wasKilled).toBe(true);
  expect(record.facts.at(-1)).toMatchObject({ type: "intent", key: "model 2.1" });
  const { result } = await attempt(world, limited);
  expect(result).toMatchObject({ stopReason: "limit", reason: "the limit of 10 seconds is reached" });
});

test("connects again in a call that goes on, and executes its tools", async () => {
  const done: string[] = [];
  let connections = 0;
  const connect = async () => {
    connections++;
    return { tools: [counting(done, { name: "note" })] };
  };
  const files = { "main.worker": worker("toolsets: { remote: {} }") };
  const { world, program } = createProgram({ files, tools: { remote: toolset({ name: "remote", connect }) }, model: twoTurns });
  const { record } = await attempt(createWorld(files, { remote: 0 }), program);
  const answered = record.facts.findIndex((fact) => fact.type === "intent" && fact.key === "model 2.1");
  done.length = 0;
  connections = 0;
  expect((await attempt(world, program, answered + 2)).wasKilled).toBe(true);
  const { result } = await attempt(world, program);
  expect(result?.output).toBe("done");
  expect({ done, connections }).toEqual({ done: ["n1", "n2"], connections: 2 });
});
