import { expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { chatScripted, writeProgram } from "./run-cli.ts";

it("holds a conversation in lines, with commands, and draws nothing twice", async () => {
  const cwd = await writeProgram({ "main.worker": "---\ninput: { input: string }\n---\nTalk.\n" });
  const terminal = openTerminal([".", "--chat", "--plain", "--model", chatScripted], { cwd, columns: 120 });
  await terminal.waitFor(">");
  terminal.type("one\\\r");
  await terminal.waitFor(">");
  terminal.type("more\r");
  await terminal.waitFor("0 messages before: one more");
  await terminal.waitFor("\n>");
  terminal.type("/context\r");
  await terminal.waitFor("The conversation has 2 messages");
  await terminal.waitFor("\n>");
  terminal.type("two\r");
  await terminal.waitFor("2 messages before: two");
  await terminal.waitFor("\n>");
  terminal.type("\x04");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen().match(/messages before: two/g)).toHaveLength(1);
  expect(terminal.screen()).not.toContain("─");
});

it("goes on with an earlier conversation, and ends at Ctrl-C without a run", async () => {
  const cwd = await writeProgram({ "main.worker": "---\ninput: { input: string }\n---\nTalk.\n" });
  const first = openTerminal([".", "one", "--model", chatScripted], { cwd, columns: 120 });
  expect(await first.exitCode).toBe(0);
  const terminal = openTerminal([".", "-c", "--chat", "--plain", "--model", chatScripted], { cwd, columns: 120 });
  await terminal.waitFor(", 2 messages\n>");
  terminal.type("two\r");
  await terminal.waitFor("2 messages before: two");
  await terminal.waitFor("\n>");
  terminal.type("\x03");
  expect(await terminal.exitCode).toBe(0);
});
