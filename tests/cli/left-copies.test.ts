import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { runCli, startCli, writeProgram } from "./run-cli.ts";

test("the copy of a killed command is removed by the next one, and one of a living command stays", async () => {
  const cwd = await writeProgram({
    "wait.worker": "---\n\n---\nWait.\n",
    "ends.worker": "---\n\n---\nEnd.\n",
    "wait.ts": "export default () => new Promise(() => setInterval(() => {}, 1000));\n",
    "end.ts": "export default () => 'done';\n",
    "wait.test.yaml": "script: wait.ts\ncases: [{ name: wait, input: x }]\n",
    "ends.test.yaml": "script: end.ts\ncases: [{ name: ends, input: end }]\n",
  });
  const temporary = join(dirname(cwd), "temporary");
  mkdirSync(temporary);
  const options = { cwd, env: { TMPDIR: temporary } };
  const copies = () => readdirSync(temporary).filter((name) => name.startsWith("llm-do-test"));
  const start = async (number: number) => {
    const { child, result } = startCli(["test", "wait.test.yaml", "--trust"], options);
    while (copies().length < number) {
      if (child.exitCode !== null) throw new Error((await result).stderr);
      await pause(50);
    }
    return async () => {
      child.kill("SIGKILL");
      await result;
    };
  };
  const killFirst = await start(1);
  const first = copies();
  const killSecond = await start(2);
  await killFirst();
  expect((await runCli(["test", "ends.test.yaml", "--trust"], options)).exitCode).toBe(0);
  expect(copies()).toHaveLength(1);
  expect(copies()).not.toEqual(first);
  await killSecond();
});
