import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type RunRequest, run, tool } from "../../src/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { anthropic } from "../models/dialects.ts";
import type { Recorded } from "../models/local-server.ts";
import { type MeteredServer, startMeteredServer } from "../models/metered-server.ts";
import { play, worker } from "./harness.ts";

const look = tool({
  description: "Looks.",
  input: z.object({ at: z.number() }),
  approval: "pre-approved",
  run: ({ at }) => result(at),
});

/** Different text for each place. */
function result(at: number, characters = 2000): string {
  return `place ${at} `.repeat(characters).slice(0, characters);
}

function resultsIn({ body }: Recorded): number {
  return body.messages.filter(({ role }: { role: string }) => role === "assistant").length;
}

/** A worker that looks so often, and then answers. */
async function playTurns(turns: number, request: Partial<RunRequest> = {}) {
  await using server = await startMeteredServer((asked) => {
    const done = resultsIn(asked);
    return done < turns ? { calls: [{ id: `c${done}`, tool: "look", args: JSON.stringify({ at: done }) }] } : { text: "done" };
  });
  return { ...(await playAgainst(server, request)), server };
}

async function playAgainst(server: MeteredServer, request: Partial<RunRequest> = {}) {
  const host = memoryHost({
    environment: anthropic.variables(server.url),
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": worker("toolsets: { look: {} }\nlimits: { turns: 1000 }", "Look around."),
      "/program/tools.ts": "export const look = 0;\n",
    },
    modules: { "/program/tools.ts": { look } },
  });
  const output = await run({
    target: "/program",
    input: "Begin.",
    model: anthropic.model,
    approval: { mode: "reject_all" },
    trust: true,
    host: { ...host, clock: { ...host.clock, sleep: async () => undefined } },
    ...request,
  });
  return { output, host };
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
    expect(Object.values(kept)).toContain(result(0, 150_000));
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
  const { output, server } = await playTurns(30);
  expect(output.output).toBe("done");
  const sum = (member: "input" | "written" | "read") => server.billed.reduce((total, one) => total + one[member], 0);
  const all = sum("input") + sum("written") + sum("read");
  expect(output.usage).toMatchObject({ inputTokens: all, cachedInputTokens: sum("read"), cacheWriteTokens: sum("written") });
  expect((sum("input") + sum("written")) / all).toBeLessThanOrEqual(0.15);
});
