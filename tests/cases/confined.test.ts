import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { promptTests, testProgram } from "../../src/testing/prompt-tests.ts";
import { makeProgram, playedBy } from "./program.ts";

test("a scope beyond the program's folder is a folder of the copy", async () => {
  const elsewhere = makeProgram({ "kept.md": "kept" });
  const program = makeProgram({
    "main.worker": `---
toolsets: { filesystem: {} }
sandbox: { paths: { notes: { root: ${elsewhere.folder}, mode: rw } } }
---
Write.
`,
    "play.yaml":
      "- reply: { calls: [{ tool: list_files, args: { path: notes } }, { tool: write_file, args: { path: notes/new.md, content: n } }] }\n- expect: { tool_result: write_file }\n  reply: done\n",
    "fixtures/notes/given.md": "given",
    "main.test.yaml": `script: play.yaml
approve: all
cases:
  - { name: empty, input: x, expect: { calls: { write_file: 1 }, refused: { write_file: 0 } } }
  - { name: given, input: x, scopes: { notes: fixtures/notes } }
`,
  });
  const before = [elsewhere.snapshot(), program.snapshot()];
  const { cases } = await program.test({ trust: true });
  const note =
    "`notes` lies outside of the program's folder, so it was empty here: `scopes: { notes: FOLDER }` puts a copy in its place";
  expect(cases.map(({ outcome, failures, notes }) => [outcome, failures, notes])).toEqual([
    ["passed", [], [note]],
    ["passed", [], undefined],
  ]);
  expect([elsewhere.snapshot(), program.snapshot()]).toEqual(before);
});

test.skipIf(process.platform === "win32")("links that lead out of the program's folder are not in the copy", async () => {
  const elsewhere = makeProgram({ "secret.md": "secret" });
  const program = makeProgram({
    "main.worker": "---\ntoolsets: { look: {} }\n---\nLook.\n",
    "in/a.md": "a",
    "tools.ts": `import { existsSync, readdirSync } from "node:fs";
import { tool } from "llm-do";
export const look = tool({ description: "", input: { type: "object" }, approval: "pre-approved",
  run: () => readdirSync(new URL("./in/", import.meta.url)).sort().join(" ") + existsSync(new URL("./out", import.meta.url)) });
`,
    "play.ts":
      "export default (r) => r.toolResults()[0] ? String(r.toolResults()[0].result.value) : { calls: [{ tool: 'look' }] };\n",
    "main.test.yaml": "cases: [{ name: one, input: x, script: play.ts, expect: { output: a.md near.mdfalse } }]\n",
  });
  symlinkSync("a.md", join(program.folder, "in/near.md"));
  symlinkSync(join(elsewhere.folder, "secret.md"), join(program.folder, "in/far.md"));
  symlinkSync(elsewhere.folder, join(program.folder, "out"));
  expect((await program.test({ trust: true })).cases).toMatchObject([{ outcome: "passed", failures: [] }]);
});

test.skipIf(process.platform === "win32").each([
  ["files: { in/a.md: ../secret.md }", 1],
  ["attachments: [in/link.md]", 1],
  ["scopes: { notes: .. }", 1],
  ["script: ../play.yaml", 1],
  ["recording: made/link.jsonl", 1],
  ["recording: made/nowhere.jsonl", 1],
  ["recording: ../made.jsonl", 1],
  ["recording: made/deep/new.jsonl", 0],
] as const)("a test names no file beyond its program's folder: %s", async (line, count) => {
  const outer = makeProgram({
    "secret.md": "secret",
    "play.yaml": "- reply: a\n",
    "program/main.worker": "---\nmodel: test:model\n---\nAnswer.\n",
    "program/made/here.md": "",
    "program/in/here.md": "",
    "program/main.test.yaml": `cases:\n  - { name: one, input: x, ${line} }\n`,
  });
  symlinkSync("../../secret.md", join(outer.folder, "program/in/link.md"));
  symlinkSync("../../secret.md", join(outer.folder, "program/made/link.jsonl"));
  symlinkSync("../../absent.md", join(outer.folder, "program/made/nowhere.jsonl"));
  const before = outer.read("secret.md");
  const { providers } = playedBy(() => "a");
  const pending = outer.test({ target: "program", record: line.startsWith("recording"), providers });
  if (count === 0) expect(await pending).toMatchObject({ passed: true });
  else await expect(pending).rejects.toThrow("leads out of the program's folder");
  expect(outer.read("secret.md")).toBe(before);
  expect(existsSync(join(outer.folder, "absent.md"))).toBe(false);
});

test("no copy is left, also where a run is aborted", async () => {
  const program = makeProgram({
    "main.worker": "---\n\n---\nWait.\n",
    "play.ts": `import { writeFileSync } from "node:fs";
export default ({ signal }) => new Promise((_, reject) => {
  process.emit("llm-do test asked");
  signal.addEventListener("abort", () => reject(signal.reason));
});
`,
    "main.test.yaml": "script: play.ts\ncases: [{ name: one, input: x }, { name: two, input: x }]\n",
  });
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith("llm-do-test_") && isOf(name)).length;
  const isOf = (name: string) => existsSync(join(tmpdir(), name, program.folder.split("/").at(-1) ?? ""));
  const controller = new AbortController();
  let asked = 0;
  const both = new Promise<void>((resolve) => {
    process.on("llm-do test asked" as never, () => ++asked === 2 && resolve());
  });
  const pending = program.test({ trust: true, signal: controller.signal });
  await both;
  process.removeAllListeners("llm-do test asked");
  expect(copies()).toBe(2);
  controller.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
  expect(copies()).toBe(0);
});

test("cases are tests of a test runner", async () => {
  const program = makeProgram({
    "main.worker": "---\n\n---\nAnswer.\n",
    "play.yaml": "- reply: a\n",
    "main.test.yaml": "script: play.yaml\ncases: [{ name: one, input: x }, { name: two, input: x, expect: { output: b } }]\n",
  });
  const registered = new Map<string, () => Promise<void>>();
  await promptTests((name, run) => registered.set(name.replace(/^.*\//, ""), run), program.folder);
  expect([...registered.keys()]).toEqual(["main.test.yaml: one", "main.test.yaml: two"]);
  await registered.get("main.test.yaml: one")?.();
  await expect(registered.get("main.test.yaml: two")?.()).rejects.toThrow('output: is not "b"; it is "a"');
  expect(await testProgram(program.folder)).toMatchObject({
    passed: false,
    cases: [{ outcome: "passed" }, { outcome: "failed" }],
  });
  writeFileSync(join(program.folder, "play.yaml"), "- reply: b\n");
  expect(readFileSync(join(program.folder, "play.yaml"), "utf8")).toContain("b");
  expect((await testProgram(program.folder, { filter: "two" })).passed).toBe(true);
});
