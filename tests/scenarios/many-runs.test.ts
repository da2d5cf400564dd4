import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ApprovalPolicy, type RunError, type RunEvent, start, tool } from "../../src/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { runsIn } from "../records.ts";
import { worker } from "./harness.ts";

const main = worker("toolsets: { note: {}, filesystem: {} }", "You note.");
const note = tool({
  input: { type: "object", properties: { id: { type: "string" } } },
  run: ({ id }: { id?: string }) => `noted ${id}`,
});

const kinds = ["approve", "reject", "ask", "unasked", "abort"] as const;
type Kind = (typeof kinds)[number];

const policies: Readonly<Record<Kind, (id: string) => ApprovalPolicy>> = {
  approve: () => ({ mode: "approve_all" }),
  reject: () => ({ mode: "reject_all" }),
  ask: (id) => ({ mode: "prompt", approver: async ({ args }) => (args["id"] === id ? { type: "approve" } : { type: "stop" }) }),
  unasked: () => ({ mode: "prompt" }),
  abort: () => ({ mode: "approve_all" }),
};

/** One of twenty runs. `id` stands in everything that it says, calls and answers. */
interface Planned {
  readonly id: string;
  readonly kind: Kind;
  readonly controller: AbortController;
}

const planned: readonly Planned[] = Array.from({ length: 20 }, (_, number) => ({
  id: `run-${number}-end`,
  kind: kinds[number % kinds.length] ?? "approve",
  controller: new AbortController(),
}));

/** Other runs get their turns between the requests of each one. */
const script: Script = async ({ turn, lastUserText }) => {
  const id = lastUserText();
  const { kind, controller } = planned.find((one) => one.id === id) as Planned;
  for (let times = id.length % 4; times >= 0; times--) await setImmediate();
  const usage = { inputTokens: id.length * 10, outputTokens: turn };
  if (turn === 1)
    return {
      calls: [
        { tool: "note", args: { id } },
        { tool: "list_files", args: {} },
      ],
      usage,
    };
  if (kind !== "abort") return { text: `answer of ${id}`, usage };
  controller.abort(new Error(`stopped ${id}`));
  return new Promise<never>(() => undefined);
};

test("twenty runs at once in one process share nothing", async () => {
  const host = memoryHost({
    files: { "/p/main.worker": main, "/p/tools.ts": "export const note = 0;\n" },
    modules: { "/p/tools.ts": { note } },
  });
  const provider = {
    name: "test",
    description: "for tests",
    keyVariables: [],
    create: async () => scriptedModel(script, "test:m"),
  };
  const ended = await Promise.all(
    planned.map(async ({ id, kind, controller }) => {
      const heard: RunEvent[] = [];
      const running = start({
        ...{ host, target: "/p", model: "test:m", providers: [provider], trust: true, input: id, signal: controller.signal },
        approval: policies[kind](id),
        onEvent: (event) => heard.push(event),
      });
      const events: RunEvent[] = [];
      for await (const event of running.events) events.push(event);
      const outcome = await running.result.then(
        (result) => ({ output: result.output, usage: result.usage, denied: result.denied.length, runId: result.runId }),
        ({ code, message, run }: RunError) => ({ code, message, usage: run?.usage, runId: run?.runId }),
      );
      return { id, kind, heard, events, ...outcome };
    }),
  );
  for (const { id, kind, heard, events, runId, usage, ...outcome } of ended) {
    expect(events).toEqual(heard);
    expect([...new Set(events.map((event) => event.runId))]).toEqual([runId]);
    const isAborted = kind === "abort";
    expect(usage).toMatchObject({ requests: isAborted ? 1 : 2, inputTokens: id.length * 10 * (isAborted ? 1 : 2) });
    const isDenied = kind === "reject" || kind === "unasked";
    const wanted = isAborted
      ? { code: "aborted", message: expect.stringContaining(id) }
      : { output: `answer of ${id}`, denied: isDenied ? 1 : 0 };
    expect(outcome).toMatchObject(wanted);
    const journal = await host.files.readText(`${runsIn("/p")}/${runId}/journal.jsonl`);
    for (const text of [JSON.stringify(events), journal]) expect([...new Set(text.match(/run-\d+-end/g))]).toEqual([id]);
    expect(JSON.parse(journal.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ type: "run-end", usage });
    expect(journal.includes(`noted ${id}`)).toBe(!isDenied);
  }
  expect(new Set(ended.map(({ runId }) => runId)).size).toBe(20);
});
