import { describe, expect, it } from "vitest";
import type { Message } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const files = {
  "main.worker": worker("input: { input: string, file?: attachment }\ntoolsets: { filesystem: {} }"),
  "a.txt": "a",
};
const attachments = [{ name: "note.txt", bytes: new TextEncoder().encode("noted") }];

describe("a run with a history", () => {
  it("goes on with the conversation of an earlier run, and records it once", async () => {
    const first = await play({
      files,
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }] } : "It says a."),
      request: { input: "read a.txt", attachments },
    });
    const history = first.result?.messages ?? [];
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);

    const published: Message[] = [];
    const second = await play({
      files,
      model: ({ messages, turn }) => `turn ${turn} sees ${messages.length} messages`,
      request: { input: "and now?", history, onMessage: (_, message) => published.push(message) },
    });
    expect(second.result?.output).toBe("turn 1 sees 5 messages");
    expect(second.result?.messages.slice(0, 4)).toEqual(history);
    expect(published).toEqual(second.result?.messages.slice(4));
    const [start] = second.journal;
    const roles = start?.type === "run-start" ? start.history?.map(({ role }) => role) : undefined;
    expect(roles).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(JSON.stringify(second.journal.slice(1))).not.toContain("It says a.");
  });

  it("is rejected where a call in it has no result, where it holds other things, and for code", async () => {
    const call: Message = { role: "assistant", parts: [{ type: "tool-call", id: "c1", name: "read_file", args: {} }] };
    const histories = [[call], ["hello"] as unknown as Message[]];
    const errors = await Promise.all(
      histories.map(async (history) => (await play({ files, model: () => "x", request: { history, input: "go" } })).error),
    );
    expect(errors).toMatchObject([
      { code: "configuration", message: '`history`: the tool call "c1" has no result' },
      { code: "configuration", message: expect.stringContaining("message 0 must have a `role`") },
    ]);
    const { error } = await play({
      files: { "main.worker": worker("") },
      tools: { main: async () => 1 },
      model: () => "x",
      request: { entry: "tools.ts:main", history: [{ role: "user", parts: [] }] },
    });
    expect(error).toMatchObject({ code: "configuration", message: "`history` is for a worker, and the entry is code" });
  });
});
