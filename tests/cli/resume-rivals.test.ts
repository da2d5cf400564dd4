import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCli, writeProgram } from "./run-cli.ts";

/** Several processes start one after the other, on a machine that may be busy. */
const timeout = 180_000;

/** Answers its second request when there is a file `go`. */
const waiting = {
  "main.worker":
    "---\nmodel: scripted:model.mjs\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
  "model.mjs": `import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
export default async ({ turn }) => {
  if (turn === 1) return { calls: [{ tool: "write_file", args: { path: "out/a.txt", content: "a" } }] };
  console.error("model waits");
  while (!existsSync(new URL("go", import.meta.url))) await setTimeout(20);
  return "done";
};
`,
};

test("of several resumes at once one goes on, also after it was stopped, and the others are refused", { timeout }, async () => {
  const cwd = await writeProgram(waiting);
  const killed = startCli([".", "go", "--approve-all", "--trust"], { cwd });
  await killed.stderrHolds("model waits");
  killed.child.kill("SIGKILL");
  await killed.result;
  const rivals = [1, 2, 3].map(() => startCli(["resume", "--approve-all", "--trust"], { cwd }));
  const winner = await Promise.any(rivals.map((rival) => rival.stderrHolds("model waits").then(() => rival)));
  winner.child.kill("SIGSTOP");
  const others = await Promise.all(rivals.filter((rival) => rival !== winner).map(({ result }) => result));
  for (const { exitCode, stderr } of others) {
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/another process executes this run|cannot be locked/);
  }
  await writeFile(join(cwd, "go"), "");
  winner.child.kill("SIGCONT");
  expect(await winner.result).toMatchObject({ exitCode: 0, stdout: "done\n" });
  expect(await readFile(join(cwd, "out/a.txt"), "utf8")).toBe("a");
});
