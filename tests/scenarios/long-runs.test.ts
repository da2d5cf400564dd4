import { expect, test } from "vitest";
import { z } from "zod";
import { type RunRequest, run, tool } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { anthropic } from "../models/dialects.ts";
import type { Recorded } from "../models/local-server.ts";
import { type MeteredServer, startMeteredServer } from "../models/metered-server.ts";
import { worker } from "./harness.ts";

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

test("a run of 30 turns pays at most 15 % of its input at full price", async () => {
  const { output, server } = await playTurns(30);
  expect(output.output).toBe("done");
  const sum = (member: "input" | "written" | "read") => server.billed.reduce((total, one) => total + one[member], 0);
  const all = sum("input") + sum("written") + sum("read");
  expect(output.usage).toMatchObject({ inputTokens: all, cachedInputTokens: sum("read"), cacheWriteTokens: sum("written") });
  expect((sum("input") + sum("written")) / all).toBeLessThanOrEqual(0.15);
});
