import { expect, it } from "vitest";
import type { Message } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

it("emits each message of a conversation once, files without their content", async () => {
  const published: Message[] = [];
  const { events } = await play({
    files: { "main.worker": worker("input: { input: string, file?: attachment }\ntoolsets: { filesystem: {} }"), "a.txt": "a" },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }] } : "It says a."),
    request: {
      input: "read a.txt",
      attachments: [{ name: "note.txt", bytes: new TextEncoder().encode("noted") }],
      onMessage: (_, message) => published.push(message),
    },
  });
  const messages = events.flatMap((event) => (event.type === "message" ? [event] : []));
  expect(messages.map(({ role }) => role)).toEqual(published.map(({ role }) => role));
  expect(messages[0]?.parts.at(-1)).toEqual({
    ...{ type: "file", name: "note.txt", mediaType: "text/plain", bytes: 5 },
    sha256: "41954b2a68ec0170b074b54f609a87de5bf08220a1ba5436a992679b4714b626",
  });
  expect(messages.at(-1)?.parts).toEqual([{ type: "text", text: "It says a." }]);
});
