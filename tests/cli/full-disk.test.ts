import { spawnSync } from "node:child_process";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli, writeProgram } from "./run-cli.ts";

/** Several processes start one after the other, on a machine that may be busy. */
const timeout = 180_000;

const program = {
  "main.worker": `---
model: scripted:model.mjs
sandbox: { paths: { out: { root: ./out, mode: rw } } }
toolsets: { filesystem: {} }
---
Write.
`,
  // Writes what is not there, so that a write that found no room is made again.
  "model.mjs": `import { statSync } from "node:fs";
const isThere = (n) => statSync(new URL(\`out/\${n}.txt\`, import.meta.url), { throwIfNoEntry: false })?.size === 9000;
export default () => {
  const next = [1, 2, 3, 4, 5, 6].find((n) => !isThere(n));
  return next === undefined ? "done" : { calls: [{ tool: "write_file", args: { path: \`out/\${next}.txt\`, content: String(next).repeat(9000) } }] };
};
`,
};

test("a run goes on when a disk that was full has room again", { timeout }, async ({ skip }) => {
  const cwd = await writeProgram(program);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", cwd]);
  skip(mounted.status !== 0, "no file system can be mounted here: that needs root and Linux");
  onTestFinished(() => void spawnSync("umount", ["-l", cwd]));
  for (const [name, text] of Object.entries(program)) await writeFile(join(cwd, name), text);
  // Records and what the run writes share the disk.
  const store = join(cwd, "records");
  const ballast = join(cwd, "ballast");
  await writeFile(ballast, Buffer.alloc(330_000));
  const full = await runCli([".", "go", "--approve-all", "--trust", "--store", store], { cwd });
  expect(full).toMatchObject({ exitCode: 1, stdout: "" });
  expect(full.stderr).toMatch(
    /the journal cannot be written: ENOSPC.*; `llm-do resume \d{8}-\d{6}-\w+ --trust --approve-all --store [^`]+` goes on when it can be\n$/,
  );
  const still = await runCli(["resume", "--approve-all", "--trust", "--store", store], { cwd });
  expect(still.exitCode).toBe(1);
  await rm(ballast);
  expect(await runCli(["resume", "--approve-all", "--trust", "--quiet", "--store", store], { cwd })).toMatchObject({
    exitCode: 0,
    stdout: "done\n",
  });
  const names = (await readdir(join(cwd, "out"))).sort();
  expect(names).toEqual([1, 2, 3, 4, 5, 6].map((turn) => `${turn}.txt`));
  for (const name of names) expect((await stat(join(cwd, "out", name))).size).toBe(9000);
});
