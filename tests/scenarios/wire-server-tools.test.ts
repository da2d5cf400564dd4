import { expect, test } from "vitest";
import { run } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { anthropic } from "../models/dialects.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { worker } from "./harness.ts";

const searched = [
  { type: "text", text: "Let me search." },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "moths" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", url: "https://example.org/a", title: "A", encrypted_content: "ZW5j", page_age: null }],
  },
  { type: "tool_use", id: "toolu_1", name: "list_files", input: {} },
];

test("a run with a tool of Anthropic, a tool of ours, and a limit of dollars by the table's prices", async () => {
  await using server = await startServer((response, _, index) =>
    sendJson(
      response,
      index === 0
        ? { ...(anthropic.body({}) as object), content: searched, stop_reason: "tool_use" }
        : anthropic.body({ text: "Moths." }),
    ),
  );
  const frontmatter =
    "server_side_tools: [{ tool_type: web_search, max_uses: 2 }]\nlimits: { usd: 0.05 }\ntoolsets: { filesystem: {} }";
  const host = memoryHost({
    environment: anthropic.variables(server.url),
    fetch: globalThis.fetch,
    files: { "/program/main.worker": worker(frontmatter) },
  });
  const result = await run({
    target: "/program",
    input: "Find.",
    model: "anthropic:claude-sonnet-4-5",
    host,
    approval: { mode: "prompt", rules: [{ effect: "allow", rule: "server:web_search" }] },
  });
  expect(result).toMatchObject({ output: "Moths.", stopReason: "done", denied: [] });
  // Twice 60 tokens in at $3 a million, 40 cached at $0.30, 20 out at $15; one search of $10 for a thousand.
  expect(result.usage.usd).toBeCloseTo(2 * (60 * 3 + 40 * 0.3 + 20 * 15) * 1e-6 + 0.01, 9);
  const [first, second] = server.requests.map(({ body }) => body);
  expect(first.tools.at(-1)).toEqual({ type: "web_search_20250305", name: "web_search", max_uses: 2 });
  expect(first.max_tokens).toBeLessThan(0.05 / 15e-6);
  expect(second.tools.at(-1)).toMatchObject({ name: "web_search", max_uses: 1 });
  expect(second.messages[1]).toEqual({ role: "assistant", content: searched });
  expect(second.messages[2].content).toMatchObject([{ type: "tool_result", tool_use_id: "toolu_1" }]);
});
