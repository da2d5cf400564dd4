import { expect, test } from "vitest";
import { type ApprovalRule, compile, replay, run, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { runsIn } from "../records.ts";
import { worker } from "./harness.ts";

const root = "/program";
const sandbox = "sandbox: { paths: { out: { root: ./out, mode: rw } } }";
const main = `toolsets: { filesystem: {}, note: {} }\n${sandbox}`;

/** A recorded run that writes a file and takes a note, and its replay with the program and the rules of today. */
async function record(rules: readonly ApprovalRule[], mode: "approve_all" | "reject_all" = "approve_all") {
  let ran = 0;
  const note = tool({ input: { type: "object" }, run: () => ++ran });
  const host = memoryHost({
    files: { [`${root}/main.worker`]: worker(main), [`${root}/tools.ts`]: "export const note = 0;\n" },
    modules: { [`${root}/tools.ts`]: { note } },
  });
  const calls = [
    { tool: "write_file", args: { path: "out/a.txt", content: "A" } },
    { tool: "note", args: {} },
  ];
  const create = async () => scriptedModel(({ turn }) => (turn === 1 ? { calls } : "done"), "test:model");
  const providers = [{ name: "test", description: "d", keyVariables: [], create }];
  const source = { target: root, model: "test:model", host, trust: true, providers };
  await run({ ...source, input: "go", approval: { mode, rules } });
  const directory = `${runsIn(root)}/${(await host.files.names(runsIn(root)))[0]}`;
  const before = { ran, files: host.snapshot(root) };
  const play = async (today: readonly ApprovalRule[] = []) => {
    const { same, differences, verdicts } = await replay({ ...source, directory, rules: today });
    expect(ran).toBe(before.ran);
    return { same, differences, verdicts };
  };
  return { host, play, source, directory };
}

const same = { same: true, differences: [], verdicts: [] };
const allow: ApprovalRule = { effect: "allow", rule: "main/write_file(out/*)", source: "--approve" };
const block: ApprovalRule = { effect: "block", rule: "main/write_file(out/a.txt)", source: "--deny" };

test("an unchanged program with the rules that the run was given does the same", async () => {
  expect(await (await record([])).play()).toEqual(same);
  expect(await (await record([allow], "reject_all")).play()).toEqual(same);
});

test("a call that a rule of today blocks is named with the rule, and the record still answers", async () => {
  const { play } = await record([allow]);
  const report = await play([block]);
  expect(report).toMatchObject({ same: false, differences: [] });
  expect(report.verdicts).toMatchObject([
    { callPath: "main/0.write_file", tool: "write_file", recorded: { type: "allowed" }, today: { type: "blocked" } },
  ]);
  expect(report.verdicts[0]?.today.why).toContain("--deny");
  expect(await play([{ ...block, rule: "main/write_file(out/b.txt)" }])).toEqual(same);
});

test("a rule that is looser today is named, too", async () => {
  const { play } = await record([]);
  expect((await play([allow])).verdicts).toMatchObject([
    { callPath: "main/0.write_file", recorded: { type: "ask" }, today: { type: "allowed" } },
  ]);
});

test("the manifest and the worker of today judge", async () => {
  const { host, play } = await record([]);
  host.put(`${root}/llm-do.yaml`, "approval:\n  rules:\n    - { effect: block, rule: main/note }\n");
  expect((await play()).verdicts).toMatchObject([{ callPath: "main/1.note", today: { type: "blocked" } }]);
  await host.files.remove(`${root}/llm-do.yaml`);
  const approved = main.replace("note: {}", "note: { _approval_config: { note: { pre_approved: true } } }");
  host.put(`${root}/main.worker`, worker(approved));
  expect((await play()).verdicts).toMatchObject([
    { callPath: "main/1.note", recorded: { type: "ask" }, today: { type: "allowed" } },
  ]);
});

test("rules that a program was compiled with count as those of a request", async () => {
  const { source, directory } = await record([]);
  const { host: _, ...more } = source;
  const { program } = await compile({ ...more, host: source.host, rules: [block], toRun: true });
  if (!program) throw new Error("the program of this test does not compile");
  expect((await replay({ program, directory })).verdicts).toMatchObject([{ today: { type: "blocked" } }]);
});
