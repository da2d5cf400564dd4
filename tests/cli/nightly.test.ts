import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readBlocks } from "../../scripts/check-docs.ts";
import type { WaitingRun } from "../../src/index.ts";
import { bin, runCli, writeProgram } from "./run-cli.ts";

const scope = "toolsets: { filesystem: {} }\nsandbox: { paths: { notes: { root: ./notes, mode: rw } } }";
const calling = (name: string) => `toolsets: { ${name}: { _approval_config: { ${name}: { pre_approved: true } } } }`;
const notes = Array.from({ length: 30 }, (_, n) => `n${n}`);
/** The main worker calls thirty children in one turn. Each proposes one edit; that of `n7` comes from two levels deeper. */
const model = `const edit = (name) => ({ calls: [{ tool: "edit_file", args: { path: "notes/" + name + ".md", old_text: "open", new_text: "done" } }] });
export default ({ worker, turn, lastUserText, toolResults }) => {
  if (turn > 1) return toolResults().map(({ result }) => (result.ok ? JSON.stringify(result.value) : result.error.error)).join("\\n");
  if (worker === "main") return { calls: ${JSON.stringify(notes)}.map((input) => ({ tool: "child", args: { input } })) };
  const name = lastUserText();
  if (name !== "n7" || worker === "deepest") return edit(name);
  return { calls: [{ tool: worker === "child" ? "deep" : "deepest", args: { input: name } }] };
};
`;

function writeNightly(): Promise<string> {
  return writeProgram({
    "main.worker": `---\nmodel: scripted:model.mjs\n${calling("child")}\n---\nTidy the notes.\n`,
    "child.worker": `---\nmodel: scripted:model.mjs\ndescription: c\n${scope.replace("{ filesystem: {} }", "{ filesystem: {}, deep: { _approval_config: { deep: { pre_approved: true } } } }")}\n---\nTidy one note.\n`,
    "deep.worker": `---\nmodel: scripted:model.mjs\ndescription: d\n${calling("deepest")}\n---\nHand it on.\n`,
    "deepest.worker": `---\nmodel: scripted:model.mjs\ndescription: e\n${scope}\n---\nTidy one note.\n`,
    "model.mjs": model,
    ...Object.fromEntries(notes.map((name) => [`notes/${name}.md`, `${name} is open\n`])),
  });
}

it("lets thirty children propose in the night, and does what a person answers in the morning", async () => {
  const cwd = await writeNightly();
  const temporary = join(cwd, "tmp");
  await mkdir(temporary);
  const options = { cwd, env: { TMPDIR: temporary, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd } };
  const llmDo = (...args: readonly string[]) => runCli(args, options);
  const contents = async () => Promise.all(notes.map((name) => readFile(join(cwd, "notes", `${name}.md`), "utf8")));
  const changed = async () => (await contents()).filter((text) => text.includes("done")).length;

  const night = await llmDo(".", "go", "--hold", "--trust", "--json");
  expect({ code: night.exitCode, ...JSON.parse(night.stdout) }).toMatchObject({ code: 4, stopReason: "suspended", exitCode: 4 });
  expect(night.stderr).toContain("the run is suspended: 30 calls wait for an answer");
  expect(await changed()).toBe(0);
  // The machine restarts.
  await rm(temporary, { recursive: true });
  await mkdir(temporary);

  const list = await llmDo("approvals", "--json");
  const { runId, questions } = JSON.parse(list.stdout) as WaitingRun;
  expect(questions).toHaveLength(30);
  expect(questions.map(({ callPath }) => callPath)).toContain("main/7.child/0.deep/0.deepest/0.edit_file");
  const left = questions.findIndex(({ callPath }) => callPath.startsWith("main/7.child/"));
  const ids = questions.filter((_, index) => index !== left).map(({ id }) => id);
  expect((await llmDo("approve", runId, ...ids.slice(0, 20))).exitCode).toBe(0);
  expect((await llmDo("deny", runId, ...ids.slice(20), "--note", "keep this one")).exitCode).toBe(0);

  const morning = await llmDo("resume", runId, "--trust");
  expect({ code: morning.exitCode, changed: await changed() }).toEqual({ code: 4, changed: 20 });
  expect(morning.stderr).toContain("1 call waits for an answer");
  const refused = await llmDo("approve", runId, ids[0] ?? "");
  expect({ code: refused.exitCode, why: refused.stderr }).toMatchObject({ code: 2, why: expect.stringContaining("was settled") });

  const edited = (await contents()).findIndex((text) => text.includes("done"));
  await writeFile(join(cwd, "notes", `${notes[edited]}.md`), "a person wrote this\n");
  const undone = await llmDo("undo", runId, ".", "--yes");
  expect(undone.stdout).toMatch(/^done: \d+ restored, \d+ removed/m);
  expect(undone.stdout).toContain(`${notes[edited]}.md  left: it was changed since`);
  expect(await changed()).toBe(0);
  expect((await contents())[edited]).toBe("a person wrote this\n");
  expect(await readdir(temporary)).toEqual([]);
}, 60_000);

it("runs the command of the workflow in the docs, whose job passes where the run waits", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/unattended.md"), "utf8");
  const block = readBlocks(page).find(({ language }) => language === "yaml");
  const { on, jobs } = parse(block?.text ?? "");
  expect(Object.keys(on)).toEqual(["schedule", "workflow_dispatch"]);
  const steps: readonly { readonly run?: string }[] = jobs.triage.steps;
  const commands = steps.flatMap(({ run = "" }) => (run.includes("llm-do") ? [run] : []));
  expect(commands).toHaveLength(2);
  const cwd = await writeNightly();
  const env = { PATH: process.env["PATH"], HOME: cwd, XDG_STATE_HOME: join(cwd, "state") };
  const play = async (command: string) => {
    const here = command
      .replaceAll("npx llm-do", `"${process.execPath}" "${bin}"`)
      .replace("--hold", "--hold --price 'scripted:*=1,1'");
    // The shell that GitHub runs steps by.
    await promisify(execFile)("bash", ["-e", "-c", here], { cwd, env });
  };
  const [night = "", always = ""] = commands;
  const main = await readFile(join(cwd, "main.worker"), "utf8");
  await writeFile(join(cwd, "main.worker"), main.replace("toolsets:", "tolsets:"));
  await expect(play(night)).rejects.toMatchObject({ code: 2 });
  await play(always);
  expect(await readdir(cwd)).not.toContain("run.json");
  await writeFile(join(cwd, "main.worker"), main);
  for (const command of commands) await play(command);
  const kept = { cwd, env: { HOME: cwd, LLM_DO_STATE_DIR: join(cwd, "state/llm-do") } };
  const waiting = JSON.parse((await runCli(["approvals", "last", "--json"], kept)).stdout);
  expect(waiting.questions).toHaveLength(30);
  expect(await readFile(join(cwd, "run.json"), "utf8")).toContain(waiting.runId);
}, 60_000);
