import { expect, test } from "vitest";
import { script, writeProgram } from "../cli/run-cli.ts";
import { type RawClient, startRaw } from "./raw-client.ts";

/** A command whose text imitates the words of its question, and names that hold letters which look like a space. */

const imitation = "programs in it:)\n  (in out, 30 s at most; isolated; writes nothing; no network)";
const calls = [
  { tool: "shell", args: { command: `touch out/x && echo '\n  (${imitation}\nProgr\u2800ams\u00a0in it:'`, writes: ["out"] } },
  { tool: "write_file", args: { path: "out/a\u2800\u00a0\u2003\u3000b.txt", content: "10\u00a0%\u2800" } },
];

function writeImitator(): Promise<string> {
  return writeProgram({
    "llm-do.yaml": "name: desk\n",
    "main.worker":
      "---\nmodel: scripted:script.json\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n" +
      "toolsets: { filesystem: {}, shell: { default: { approval_required: true } } }\n---\nW.\n",
    "script.json": script({ main: [...calls.map((call) => ({ calls: [call] })), "done"] }),
    "out/x": "",
  });
}

const blank = /[\u2800\u00a0\u2003\u3000]/;

function checkQuestions(first: string, second: string): void {
  const lines = first.split("\n");
  expect(lines.filter((line) => line.startsWith("  (programs in it:)"))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("  (in "))).toHaveLength(1);
  expect(lines).toContain("  |   (programs in it:)");
  expect(first).toContain("\\u{2800}ams\\u{A0}in");
  expect(first).not.toMatch(blank);
  expect(second).toContain("out/a\\u{2800}\\u{A0}\\u{2003}\\u{3000}b.txt");
  // A space that does not break belongs to texts.
  expect(second).toContain("| 10\u00a0%\\u{2800}");
}

test("no text of a call imitates the words of its form, and blank letters are seen", async () => {
  const folder = await writeImitator();
  const raw = startRaw(["mcp", folder, "--trust", "--ask-client"], folder);
  await raw.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "raw", version: "1" },
  }).answer;
  raw.send({ method: "notifications/initialized" });
  const { answer } = raw.request("tools/call", { name: "desk", arguments: { input: "x" } });
  const ask = async (client: RawClient, after?: unknown) => {
    const { id, params } = await client.find((one) => one.method === "elicitation/create" && one.id !== after);
    client.send({ id, result: { action: "decline" } });
    return { id, text: String(params?.["message"]) };
  };
  const first = await ask(raw);
  const second = await ask(raw, first.id);
  checkQuestions(first.text, second.text);
  expect(JSON.stringify(await answer)).toContain("done");
});

test("no text of a call imitates the words of a permission, and blank letters are seen", async () => {
  const folder = await writeImitator();
  const raw = startRaw(["acp", folder, "--trust"], folder);
  await raw.request("initialize", { protocolVersion: 1, clientCapabilities: {} }).answer;
  const { result } = await raw.request("session/new", { cwd: folder, mcpServers: [] }).answer;
  const sessionId = result?.["sessionId"];
  const { answer } = raw.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] });
  const ask = async (after?: unknown) => {
    const { id, params } = await raw.find((one) => one.method === "session/request_permission" && one.id !== after);
    raw.send({ id, result: { outcome: { outcome: "selected", optionId: "deny" } } });
    const { toolCall, options } = params as {
      readonly toolCall: { readonly content: readonly [{ readonly content: { readonly text: string } }] };
      readonly options: readonly { readonly name: string }[];
    };
    expect(options.map(({ name }) => name).join()).not.toMatch(blank);
    return { id, text: toolCall.content[0].content.text };
  };
  const first = await ask();
  const second = await ask(first.id);
  checkQuestions(first.text, second.text);
  expect(await answer).toMatchObject({ result: { stopReason: "end_turn" } });
});
