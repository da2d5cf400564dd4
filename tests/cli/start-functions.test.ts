import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { runCli, writeProgram } from "./run-cli.ts";

/** Names functions, one on a line. The build compiles them with their file. `UPDATE_START=1` writes it; build again after that. */
const list = join(import.meta.dirname, "../../scripts/start-functions.txt");
const update = process.env["UPDATE_START"] === "1";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly functionName: string; readonly ranges: readonly [{ readonly count: number }] }[];
  }[];
}

const call = { id: "1", type: "function", function: { name: "look_up", arguments: '{"key":"a"}' } };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** Plays a model that calls `look_up` once where it has the tool. */
async function startModel() {
  const server = createServer(async (request, response) => {
    const { tools, messages } = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
    const isCall = tools !== undefined && messages.at(-1).role !== "tool";
    const message = { role: "assistant", content: isCall ? null : "done", ...(isCall && { tool_calls: [call] }) };
    const choices = [{ index: 0, message, finish_reason: isCall ? "tool_calls" : "stop" }];
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ id: "1", created: 1, model: "m", choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Reads which declared functions of our files were called, and which of them are not marked. */
async function readCalled(folder: string) {
  const [called, unmarked] = [new Set<string>(), new Set<string>()];
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), "utf8")) as Coverage;
    for (const { url, functions } of result.filter((file) => /^file:.*\/dist\/(?!.*node_modules)/.test(file.url))) {
      const text = await readFile(new URL(url), "utf8");
      const plain = new Set([...text.matchAll(/^(?:async )?function\*? ?([\w$]+)/gm)].map(([, declared = ""]) => declared));
      const marked = new Set([...text.matchAll(/^var ([\w$]+) = \((?:async )?function/gm)].map(([, declared = ""]) => declared));
      for (const { functionName, ranges } of functions) {
        if (ranges[0].count === 0 || !(plain.has(functionName) || marked.has(functionName))) continue;
        const name = functionName.replace(/\$\d+$/, "");
        called.add(name);
        if (plain.has(functionName)) unmarked.add(name);
      }
    }
  }
  return { called: [...called].sort(), unmarked: [...unmarked].sort() };
}

it("compiles most functions of a first request with their file", async () => {
  await using model = await startModel();
  const cwd = await writeProgram({
    "llm-do.yaml": `providers:\n  local: { type: openai-compatible, base_url: "${model.url}" }\n`,
    "alone.worker": "---\nmodel: local:m\ninput: { input: string }\n---\nGo.\n",
    "main.worker": "---\nmodel: local:m\ninput: { input: string }\ntoolsets: { look: { _use: ./tools.ts:look } }\n---\nGo.\n",
    "tools.ts": `import { tool, toolset } from "llm-do";
import { z } from "zod";
const lookUp = tool({ name: "look_up", input: z.object({ key: z.string() }), sideEffect: false, approval: "pre-approved", run: ({ key }) => key });
export const look = toolset({ name: "look", tools: () => [lookUp] });
`,
  });
  const coverage = join(dirname(cwd), "coverage");
  for (const worker of ["alone.worker", "main.worker"]) {
    const env = { NODE_V8_COVERAGE: coverage };
    const { exitCode, stderr } = await runCli([worker, "hello", "--trust", "--reject-all", "-q"], { cwd, env });
    expect(exitCode, stderr).toBe(0);
  }
  const { called, unmarked } = await readCalled(coverage);
  expect(called.length).toBeGreaterThan(500);
  if (update) await writeFile(list, `${called.join("\n")}\n`);
  else expect(unmarked.length, `run this test with UPDATE_START=1: ${unmarked.join(", ")}`).toBeLessThan(called.length / 5);
});
