import { describe, expect, test } from "vitest";
import { z } from "zod";
import { nodeClock } from "../../src/host/node-clock.ts";
import { compile, type RunEvent, run, tool } from "../../src/index.ts";
import type { Message } from "../../src/protocol/message.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { renderJournal } from "../../src/ui/records/render-journal.ts";
import { anthropicWire, bedrockWire, type MarkedWire, openrouterWire, startMeteredServer } from "../models/metered-server.ts";
import { readJournal, readRecord, runsIn } from "../records.ts";
import { play, worker } from "./harness.ts";
import { expectSameReplay } from "./replay-run.ts";

/** Different text for each place. */
function result(at: number, characters = 2000): string {
  return `place ${at} `.repeat(characters).slice(0, characters);
}

interface Looks {
  readonly turns: number;
  /** The size of each result. */
  readonly characters: number;
  readonly frontmatter?: string;
  readonly wire?: MarkedWire;
}

/** A worker that looks so often, against a server that refuses requests of more than 100,000 tokens, and then answers. */
async function playTurns({ turns, characters, frontmatter = "", wire = anthropicWire }: Looks) {
  const { dialect } = wire;
  await using server = await startMeteredServer(({ body }) => {
    const done = body.messages.filter(({ role }: { role: string }) => role === "assistant").length;
    return done < turns ? { calls: [{ id: `c${done}`, tool: "look", args: JSON.stringify({ at: done }) }] } : { text: "done" };
  }, wire);
  const look = tool({ input: z.object({ at: z.number() }), approval: "pre-approved", run: ({ at }) => result(at, characters) });
  const memory = memoryHost({
    environment: dialect.variables(server.url),
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": worker(`toolsets: { look: {} }\nlimits: { turns: 1000 }\n${frontmatter}`, "Look around."),
      "/program/tools.ts": "export const look = 0;\n",
    },
    modules: { "/program/tools.ts": { look } },
  });
  const host = { ...memory, clock: { ...memory.clock, sleep: async () => undefined } };
  const events: RunEvent[] = [];
  const approval = { mode: "reject_all" } as const;
  const onEvent = (event: RunEvent) => events.push(event);
  const { program } = await compile({ target: "/program", model: dialect.model, host, trust: true, toRun: true });
  if (!program) throw new Error("the program does not compile");
  const output = await run({ program, input: "Begin.", approval, trust: true, host, onEvent });
  const directory = `${runsIn("/program")}/${(await host.files.names(runsIn("/program")))[0]}`;
  const record = await readRecord(host, directory);
  await expectSameReplay(program, { host: { ...host, clock: nodeClock }, debug: false, ...record, events });
  const shown = renderJournal(await readJournal(host, directory), 400);
  return { output, server, shown, facts: record.facts };
}

describe("a result that is longer than the model gets at once", () => {
  const dump = tool({ input: z.object({}), approval: "pre-approved", run: () => result(0, 150_000) });
  const ends: Script = ({ turn, toolResults }) => {
    const [part] = toolResults();
    const last = part?.result.ok ? String(part.result.value) : "";
    if (turn === 1) return { calls: [{ tool: "dump" }] };
    const [, id = "", offset = ""] = /"id":"(\w+)","offset":(\d+)/.exec(last.slice(-200)) ?? [];
    return id === "" ? `read to ${last.slice(-60)}` : { calls: [{ tool: "read_result", args: { id, offset: Number(offset) } }] };
  };
  const files = { "main.worker": worker("toolsets: { dump: {} }") };
  const request = { input: "Go" };

  test("is read on by a tool that is there as soon as it is needed", async () => {
    const { result: ended, model, journal } = await play({ request, files, tools: { dump }, model: ends });
    expect(ended?.output).toMatch(/characters 120,000 to 150,000 of 150,000; this is the end\]$/);
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["dump"],
      ["dump", "read_result"],
      ["dump", "read_result"],
      ["dump", "read_result"],
    ]);
    const parts = model.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.parts : [])) ?? [];
    const read = parts.map((part) => (part.result.ok ? String(part.result.value).replace(/\n\n\[characters .*\]$/, "") : ""));
    expect(read.join("")).toBe(result(0, 150_000));
    expect(journal.filter(({ type }) => type === "cut")).toMatchObject([{ id: "r1", characters: 150_000, tool: "dump" }]);
  });

  test("is read on in a run that is not recorded, which leaves nothing behind", async () => {
    let kept: Readonly<Record<string, string>> = {};
    const model: Script = (asked) => {
      kept = { ...kept, ...host.snapshot("/home/user") };
      return ends(asked);
    };
    const host = memoryHost({
      files: { "/program/main.worker": files["main.worker"], "/program/tools.ts": "export const dump = 0;\n" },
      modules: { "/program/tools.ts": { dump } },
    });
    const scripted = {
      name: "test",
      description: "for tests",
      keyVariables: [],
      create: async () => scriptedModel(model, "test:m"),
    };
    const approval = { mode: "reject_all" } as const;
    const ended = await run({
      target: "/program",
      input: "Go",
      model: "test:m",
      providers: [scripted],
      approval,
      host,
      trust: true,
      journal: false,
    });
    expect(ended.output).toMatch(/this is the end\]$/);
    expect(Object.values(kept)).toEqual([]);
    expect(Object.values(host.snapshot("/home/user"))).toEqual([]);
  });

  test.each([
    [
      "the worker's",
      {
        "main.worker": worker("context: { max_result: 1000 }\ntoolsets: { dump: {} }"),
        "llm-do.yaml": "context: { max_result: 2000 }",
      },
      1000,
    ],
    ["the manifest's", { ...files, "llm-do.yaml": "context: { max_result: 2000 }" }, 2000],
  ])("is cut to %s bound", async (_, program, most) => {
    const { model } = await play({
      request,
      files: program,
      tools: { dump },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "dump" }] } : "done"),
    });
    const [part] = model.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.parts : [])) ?? [];
    expect(part?.result.ok && String(part.result.value).indexOf("\n\n[characters 0 to")).toBe(most);
  });

  test("is cut where it is a failure, and stays one", async () => {
    const fails = tool({
      input: z.object({}),
      approval: "pre-approved",
      run: () => {
        throw new Error(result(0, 90_000));
      },
    });
    const { model } = await play({
      request,
      files,
      tools: { dump: fails },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "dump" }] } : "done"),
    });
    const [part] = model.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.parts : [])) ?? [];
    expect(part?.result).toMatchObject({
      ok: false,
      error: { type: "tool_failed", error: expect.stringMatching(/of 9\d,\d{3}; read on/) },
    });
  });
});

test("a run of 30 turns pays at most 15 % of its input at full price", async () => {
  const { output, server, shown } = await playTurns({ turns: 30, characters: 2000 });
  expect(output.output).toBe("done");
  const sum = (member: "input" | "written" | "read") => server.billed.reduce((total, one) => total + one[member], 0);
  const all = sum("input") + sum("written") + sum("read");
  expect(output.usage).toMatchObject({ inputTokens: all, cachedInputTokens: sum("read"), cacheWriteTokens: sum("written") });
  expect((sum("input") + sum("written")) / all).toBeLessThanOrEqual(0.15);
  // 3 dollars for a million tokens: a tenth of it for what is read, a quarter more for what is written.
  const ledger = shown.slice(shown.indexOf("context of main: ")).split("\n");
  expect(
    ledger.map((line) =>
      line
        .replace(/^ *[\d,]+ (?=\w)|(?<=: )[\d,]+/, "N ")
        .replace("N  ", "N ")
        .trim(),
    ),
  ).toEqual([
    "context of main: N tokens, at four characters each",
    ...["N instructions", "N tool look", "N input", "N answers"],
    ...[0, 1, 2, 3, 4].map((turn) => `N result of look, turn ${turn + 1}`),
    ...["N 25 smaller results", ""],
  ]);
  expect(output.usage.savedUsd).toBeCloseTo((3 * (0.9 * sum("read") - 0.25 * sum("written"))) / 1e6, 9);
});

test.each([
  ["bedrock", bedrockWire],
  ["openrouter", openrouterWire],
])("a run of 30 turns of Claude on %s pays at most 15 %% of its input at full price", async (_, wire) => {
  const { output, server } = await playTurns({ turns: 30, characters: 2000, wire });
  expect(output.output).toBe("done");
  const sum = (member: "input" | "written" | "read") => server.billed.reduce((total, one) => total + one[member], 0);
  const all = sum("input") + sum("written") + sum("read");
  expect(output.usage).toMatchObject({ inputTokens: all, cachedInputTokens: sum("read"), cacheWriteTokens: sum("written") });
  expect((sum("input") + sum("written")) / all).toBeLessThanOrEqual(0.15);
});

describe("a conversation that outgrows the model's window", () => {
  test("goes on for 300 turns with 2 MB of results, without a refused request", async () => {
    const { output, server, shown } = await playTurns({
      turns: 300,
      characters: 6700,
      frontmatter: "context: { window: 100000 }",
    });
    expect(output.output).toBe("done");
    expect(server.refused).toEqual([]);
    expect(server.billed).toHaveLength(301);
    const lines = shown.match(
      /main, turn \d+: dropped .* results to make room, 8\d,\d{3} to [45]\d,\d{3} tokens of 100,000: look of turns \d+ to \d+$/gm,
    );
    expect(lines?.length).toBeGreaterThan(5);
    expect(shown).toMatch(/\n +[\d,]+ 295 smaller results \(\d+ dropped\)\n/);
    expect(lines?.[0]).toMatch(/look of turns 1 to \d+$/);
  }, 60_000);

  test("is learned from a refusal where the window is not known, and keeps what it has to keep", async () => {
    const { output, server, facts } = await playTurns({ turns: 24, characters: 50_000 });
    expect(output.output).toBe("done");
    expect(server.refused).toHaveLength(1);
    expect(facts.some(({ type }) => type === "compaction")).toBe(true);
    const { system, messages } = server.requests.at(-1)?.body ?? {};
    expect(JSON.stringify([system, messages[0]])).toMatch(/Look around.*Begin\./);
    const blocks = messages.flatMap(({ content }: { content: unknown }) => content) as Record<string, string>[];
    const calls = blocks.flatMap((block) => (block["type"] === "tool_use" ? [block["id"]] : []));
    expect(blocks.flatMap((block) => (block["type"] === "tool_result" ? [block["tool_use_id"]] : []))).toEqual(calls);
    expect(calls).toHaveLength(24);
    const results = blocks.filter(({ type }) => type === "tool_result").map((block) => JSON.stringify(block["content"]));
    expect(results[0]).toContain("[dropped to make room: a result of 50,000 characters; make the call again if you need it]");
    for (const at of [20, 21, 22, 23]) expect(results[at]).toContain(result(at, 50_000));
  });
});

describe("a model that makes the same call again and again", () => {
  const files = { "main.worker": worker("toolsets: { look: {}, change: {} }") };
  const request = { input: "Go" };
  const look = tool({ input: z.object({}), approval: "pre-approved", run: () => "nothing" });
  const change = tool({ input: z.object({ n: z.number() }), approval: "pre-approved", run: ({ n }) => n });
  const hints = (messages: readonly Message[]) =>
    messages
      .flatMap(({ role, parts }) => parts.flatMap((part) => (role === "user" && part.type === "text" ? [part.text] : [])))
      .slice(1);

  test("gets a hint after the third time, and fails after the fifth", async () => {
    const model: Script = () => ({ calls: [{ tool: "look" }, { tool: "look" }] });
    const { error, model: asked } = await play({ request, files, tools: { look, change }, model });
    expect(error).toMatchObject({ code: "loop", message: expect.stringContaining("`look` was called 5 times") });
    expect(asked.requests).toHaveLength(5);
    expect(asked.requests.map(({ messages }) => hints(messages).length)).toEqual([0, 0, 0, 1, 1]);
    expect(hints(asked.requests.at(-1)?.messages ?? [])[0]).toContain("You called `look` 3 times");
  });

  test("fails where it goes in a circle of several calls", async () => {
    const model: Script = ({ turn }) => ({ calls: [{ tool: "change", args: { n: turn % 3 } }] });
    const { error, model: asked } = await play({ request, files, tools: { look, change }, model });
    expect(error).toMatchObject({ code: "loop" });
    expect(asked.requests).toHaveLength(15);
  });

  test("gets neither where something new comes between", async () => {
    const model: Script = ({ turn }) => {
      if (turn > 20) return "done";
      return { calls: [turn % 2 === 0 ? { tool: "look" } : { tool: "change", args: { n: turn } }] };
    };
    const { result: ended, model: asked } = await play({ request, files, tools: { look, change }, model });
    expect(ended?.output).toBe("done");
    expect(hints(asked.requests.at(-1)?.messages ?? [])).toEqual([]);
  });

  test("fails alone: its caller goes on", async () => {
    const { result: ended } = await play({
      request,
      files: {
        ...files,
        "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
        "child.worker": files["main.worker"],
      },
      tools: { look, change },
      model: ({ worker: name, turn, toolResults }) => {
        if (name === "child") return { calls: [{ tool: "look" }] };
        return turn === 1 ? { calls: [{ tool: "child", args: { input: "Go" } }] } : JSON.stringify(toolResults()[0]?.result);
      },
    });
    expect(ended?.output).toMatch(/"ok":false,.*"type":"loop"/);
  });
});

test("a warning names what kept the provider from using its cache", async () => {
  const { events } = await play({
    files: {
      "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
      "child.worker": worker("description: c\ninput: { day: string }", "Today is {{ day }}."),
    },
    request: { input: "Go" },
    model: ({ worker: name, turn }) => {
      const usage = { inputTokens: 2000, outputTokens: 1, cacheWriteTokens: 1500 };
      if (name === "child" || turn > 3) return { text: "done", usage };
      return { calls: [{ tool: "child", args: { day: `2026-11-2${turn}` } }], usage };
    },
  });
  const warnings = events.flatMap((event) => (event.type === "warning" ? [`${event.callPath}: ${event.message}`] : []));
  const change =
    "the instructions hold a date or a time that changed (line 1: `Today is 2026-11-22.`); put what changes into the prompt";
  expect(warnings).toEqual([`main/1.child: what the provider had in its cache could not be used: ${change}`]);
});
