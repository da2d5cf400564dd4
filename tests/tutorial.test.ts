import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readBlocks } from "../scripts/check-docs.ts";
import { cleanEnvironment } from "./cli/run-cli.ts";

/* Plays docs/tutorial.md from its first block to its last, as a reader would; `npx` is the built command. */

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "llm-do-tutorial-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("docs/tutorial.md does what it says, in its order", () => {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("there is no dist/: run `npm run build` first");
  const bins = join(folder, "bin");
  mkdirSync(bins);
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(root, "bin/llm-do.js")}' "$@"\n`;
  writeFileSync(join(bins, "npx"), npx, { mode: 0o755 });
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const env = { ...cleanEnvironment(cwd), PATH: `${bins}:${process.env["PATH"] ?? ""}` };
  const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
  const blocks = readBlocks(page);
  let ran = 0;
  let printed = "";
  for (const [index, { text, marks, line }] of blocks.entries()) {
    const file = marks.get("file");
    if (file !== undefined) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), text);
    }
    if (!marks.has("walk")) continue;
    const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", text], { cwd, env, encoding: "utf8", input: "" });
    expect({ line, status }, stderr).toEqual({ line, status: Number(marks.get("exit") ?? 0) });
    const next = blocks[index + 1];
    if (next?.marks.has("stdout")) expect({ line, stdout }).toEqual({ line, stdout: next.text });
    printed += stdout;
    ran++;
  }
  expect(ran).toBeGreaterThan(8);
  const [, share, rest, lower] = /agrees in (\d+ of \d+) calls, and leaves (\d+)[^%]* between ([\d.]+) and/.exec(page) ?? [];
  expect(printed).toContain(`  agrees: ${share}, 100.0 % (95 % interval ${lower} to 100.0 %)\n`);
  expect(printed).toContain(`  ${rest} unsure\n`);
}, 120_000);
