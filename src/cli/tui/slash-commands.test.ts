import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Message } from "../../protocol/message.ts";
import { completeWord } from "./attach-files.ts";
import { portableHistory } from "./portable-history.ts";
import { slashCommands } from "./slash-commands.ts";

it("is documented command by command", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/tui.md"), "utf8");
  const documented = [...page.matchAll(/^\| `\/(\w+)(?: ([^`]+))?` +\| (.*?) +\|$/gm)].map(([, ...row]) => row);
  const commands = Object.entries(slashCommands).map(([name, { takes, help }]) => [name, takes || undefined, help]);
  expect(documented).toEqual(commands);
});

it("has each of its keys in its page, and no other ones", () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");
  const code = ["src/cli/tui/tui.ts", "src/cli/tui/keyboard.ts", "src/ui/tui/text-field.ts"].map(read).join("\n");
  const found = [...code.matchAll(/isControl\("(\w)"\)|ctrl && (?:key\.)?name === "(\w)"|"(ctrl|meta)-(\w+)"/g)];
  const keys = found.map(
    ([, control, other, modifier, key = control ?? other ?? ""]) =>
      `${modifier === "meta" ? "Alt" : "Ctrl"}-${key.charAt(0).toUpperCase()}${key.slice(1)}`,
  );
  // A line feed is Ctrl-J; Alt-Enter is a carriage return with Alt.
  const documented = read("docs/tui.md").match(/\b(?:Ctrl|Alt)-[A-Z]\w*/g) ?? [];
  expect(new Set(documented)).toEqual(new Set([...keys, "Ctrl-J", "Alt-Enter"]));
});

it("completes commands at the beginning, and files after @", () => {
  const commands = ["/clear", "/context", "/exit"];
  expect(completeWord("/e", commands)).toEqual({ start: 0, text: "/exit ", candidates: [] });
  expect(completeWord("/c", commands)).toEqual({ start: 0, text: "/c", candidates: ["/clear", "/context"] });
  expect(completeWord("read /e", commands)).toEqual({ start: 5, text: "/e", candidates: [] });
  const folder = join(import.meta.dirname, "live-reg");
  expect(completeWord(`see @${folder}`, commands)).toEqual({ start: 4, text: `@${folder}ion.ts `, candidates: [] });
});

it("keeps of a conversation what another provider takes", () => {
  const result: Message = { role: "tool", parts: [{ type: "tool-result", id: "c", name: "t", result: { ok: true, value: 1 } }] };
  const history: Message[] = [
    { role: "assistant", parts: [{ type: "reasoning", text: "hm", providerData: { a: 1 } }] },
    {
      role: "assistant",
      parts: [{ type: "tool-call", id: "c", name: "t", args: {}, providerData: { a: 1 } }],
      providerData: { b: 1 },
    },
    result,
  ];
  expect(portableHistory(history)).toEqual([
    { role: "assistant", parts: [{ type: "tool-call", id: "c", name: "t", args: {} }] },
    result,
  ]);
});
