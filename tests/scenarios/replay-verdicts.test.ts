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
async function record(rules: readonly ApprovalRule[], mode: "approve_all" | "reject_all" = "approve_all", front = main) {
  let ran = 0;
  const note = tool({ input: { type: "object" }, run: () => ++ran });
  const host = memoryHost({
    files: { [`${root}/main.worker`]: worker(front), [`${root}/tools.ts`]: "export const note = 0;\n" },
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

test("the scopes of today judge", async () => {
  const { host, play } = await record([]);
  const settle = (line: string) => host.put(`${root}/main.worker`, worker(main.replace("mode: rw", `mode: rw, ${line}`)));
  settle("write_approval: false");
  const [verdict, ...others] = (await play()).verdicts;
  expect(verdict).toMatchObject({ callPath: "main/0.write_file", recorded: { type: "ask" }, today: { type: "allowed" } });
  expect(verdict?.today.why).toContain("write_approval: false of the scope out");
  expect(others).toEqual([]);
  settle("write_approval: true");
  expect(await play()).toEqual(same);
  const lax = await record([], "approve_all", main.replace("mode: rw", "mode: rw, write_approval: false"));
  lax.host.put(`${root}/main.worker`, worker(main));
  expect((await lax.play()).verdicts).toMatchObject([{ recorded: { type: "allowed" }, today: { type: "ask" } }]);
});

test("the rules of today of a shell judge", async () => {
  const shell = (rules: string) => worker(`${sandbox}\ntoolsets: { shell: { rules: [${rules}] } }`);
  const allowed = "{ pattern: git log, approval_required: false }";
  const host = memoryHost({
    files: { [`${root}/main.worker`]: shell(allowed), [`${root}/out/a`]: "" },
    commands: { git: () => "x" },
  });
  const call = { tool: "shell", args: { command: "git log | git log -3" } };
  const create = async () => scriptedModel(({ turn }) => (turn === 1 ? { calls: [call] } : "done"), "test:model");
  const providers = [{ name: "test", description: "d", keyVariables: [], create }];
  const source = { target: root, model: "test:model", host, trust: true, providers };
  await run({ ...source, input: "go", approval: { mode: "reject_all" } });
  const directory = `${runsIn(root)}/${(await host.files.names(runsIn(root)))[0]}`;
  const judged = async (rules: string) => {
    host.put(`${root}/main.worker`, shell(rules));
    const { verdicts } = await replay({ ...source, directory });
    return verdicts.map(({ recorded, today }) => `${recorded.type} ${today.type}: ${today.why}`);
  };
  expect(await judged(allowed)).toEqual([]);
  expect(await judged("{ pattern: git log, approval_required: true }")).toEqual([
    expect.stringMatching(/^allowed ask: .*approval_required of the rule `git log`/),
  ]);
  expect(await judged(`{ pattern: git log -3, blocked: true }, ${allowed}`)).toEqual([
    expect.stringMatching(/^allowed blocked: .*`git log -3` blocks it/),
  ]);
  expect(await judged("{ pattern: git status, approval_required: false }")).toEqual([
    expect.stringMatching(/^allowed blocked: no rule covers `git`/),
  ]);
});

test("rules that a program was compiled with count as those of a request", async () => {
  const { source, directory } = await record([]);
  const { host: _, ...more } = source;
  const { program } = await compile({ ...more, host: source.host, rules: [block], toRun: true });
  if (!program) throw new Error("the program of this test does not compile");
  expect((await replay({ program, directory })).verdicts).toMatchObject([{ today: { type: "blocked" } }]);
});
