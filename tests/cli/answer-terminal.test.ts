import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listQuestions } from "../../src/index.ts";
import { cliRuns } from "../records.ts";
import { end, openTerminal, prompt } from "./open-terminal.ts";
import { runCli, writeProgram } from "./run-cli.ts";

const names = ["a", "b", "c"];
const yesOrNo = "no   leave everything as it is\n>";

it("answers, takes back and prunes a held run by questions at a terminal", async () => {
  const writes = names.map((name) => ({ tool: "write_file", args: { path: `out/${name}.txt`, content: name } }));
  const cwd = await writeProgram({
    "main.worker":
      "---\nmodel: scripted:model.mjs\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n---\nWrite.\n",
    "model.mjs": `export default ({ turn }) => (turn === 1 ? { calls: ${JSON.stringify(writes)} } : "done");\n`,
  });
  const runs = cliRuns(cwd);
  expect((await runCli([".", "go", "--hold", "--trust"], { cwd })).exitCode).toBe(4);
  const [runId = ""] = readdirSync(runs);
  const directory = join(runs, runId);
  const answers = async () => (await listQuestions({ directory })).questions.map(({ answer }) => answer);
  const written = () => readdirSync(join(cwd, "out")).sort();

  const each = openTerminal(["approve", "last"], { cwd, columns: 60 });
  await each.waitFor(prompt);
  each.type("e\r");
  await each.waitFor("goes back.\n>");
  each.type('\x15{"path":7}\r');
  await each.waitFor("of `write_file` do not fit");
  for (const [index, keys] of ["a\r", "d keep the old one\r", "\x03"].entries()) {
    if (index > 0) await each.waitFor(`Approval ${index + 1} of 3`);
    await each.waitFor(prompt);
    each.type(keys);
  }
  const interrupted = await end(each);
  expect(interrupted.exitCode).toBe(130);
  expect(interrupted.screen).toContain(`llm-do: the run ${runId} of`);
  expect(interrupted.screen).toContain("approved: main: Write 1 character to out/a.txt (new file)");
  // Answers from before the interrupt stay.
  expect(await answers()).toEqual([{ type: "approve" }, { type: "deny", note: "keep the old one" }, undefined]);

  /** Asks once, and gives one answer. */
  const ask = async (args: readonly string[], question: string, answer: string) => {
    const terminal = openTerminal(args, { cwd });
    await terminal.waitFor(question);
    await terminal.waitFor(yesOrNo);
    terminal.type(`${answer}\r`);
    return end(terminal);
  };
  const all = "main: Write 1 character to out/c.txt (new file)\napprove all 1?";
  const refused = await ask(["approve", runId, "--all"], all, "no");
  expect(refused).toMatchObject({ exitCode: 1, screen: expect.stringContaining("nothing was answered") });
  expect(await ask(["approve", runId, "--all"], all, "yes")).toMatchObject({ exitCode: 0 });
  expect((await answers())[2]).toEqual({ type: "approve" });
  expect(await runCli(["resume", runId, "--trust"], { cwd })).toMatchObject({ exitCode: 0, stdout: "done\n" });
  expect(written()).toEqual(["a.txt", "c.txt"]);

  const left = await ask(["undo", "last", "--call", "main/0.write_file"], "Take this back?", "n");
  expect(left).toMatchObject({ exitCode: 1, screen: expect.stringContaining("nothing was taken back") });
  expect(written()).toEqual(["a.txt", "c.txt"]);
  expect(await ask(["undo", "last", "--call", "main/0.write_file"], "Take this back?", "y")).toMatchObject({ exitCode: 0 });
  expect({ written: written(), c: readFileSync(join(cwd, "out/c.txt"), "utf8") }).toEqual({ written: ["c.txt"], c: "c" });

  const prune = ["runs", "prune", ".", "--keep", "0"];
  expect(await ask(prune, "Remove the record of this run?", "no")).toMatchObject({ exitCode: 1 });
  expect(readdirSync(runs).filter((name) => /^\d/.test(name))).toEqual([runId]);
  expect(await ask(prune, "Remove the record of this run?", "yes")).toMatchObject({ exitCode: 0 });
  expect(readdirSync(runs).filter((name) => /^\d/.test(name))).toEqual([]);
}, 120_000);
