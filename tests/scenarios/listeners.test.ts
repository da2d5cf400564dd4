import { expect, test } from "vitest";
import { type Provider, type RunEvent, start } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { worker } from "./harness.ts";

const pieces = 12_000;

/** Streams its answer in many pieces, in each of two turns. */
const provider: Provider = {
  name: "test",
  description: "for tests",
  keyVariables: [],
  create: async () => {
    const text = "word ".repeat(pieces);
    const model = scriptedModel(({ turn }) => (turn === 1 ? { text, calls: [{ tool: "list_files" }] } : { text }), "test:m");
    const generate: typeof model.generate = (request, { onDelta, ...options }) => {
      for (let index = 0; index < pieces; index++) onDelta?.({ type: "text-delta", text: "word " });
      return model.generate(request, options);
    };
    return { ...model, generate };
  },
};

test("a run waits for no listener, and keeps every event but pieces for a reader that is far behind", async () => {
  const host = memoryHost({ files: { "/p/main.worker": worker("toolsets: { filesystem: {} }", "Talk.") } });
  const heard: RunEvent[] = [];
  const running = start({
    ...{ host, target: "/p", model: "test:m", providers: [provider], input: "x", approval: { mode: "reject_all" } },
    onEvent: ((event: RunEvent) => {
      heard.push(event);
      return new Promise<never>(() => undefined);
    }) as (event: RunEvent) => void,
  });
  const { output } = await running.result;
  const read: RunEvent[] = [];
  for await (const event of running.events) read.push(event);
  const isPiece = ({ type }: RunEvent) => type === "text-delta";
  expect(heard.filter(isPiece)).toHaveLength(2 * pieces);
  expect(read.filter(isPiece).length).toBeLessThanOrEqual(10_000);
  const kept = new Set(read);
  expect(read).toEqual(heard.filter((event) => !isPiece(event) || kept.has(event)));
  expect(read.at(-1)?.type).toBe("run-end");
  expect(output).toBe("word ".repeat(pieces));
});
