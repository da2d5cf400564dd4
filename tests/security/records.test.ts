import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { type RecordedEntry, recordWaiting } from "./poisoned-record.ts";

const write = { tool: "write_file", args: { path: "w/out.txt", content: "x" } };

describe("the options in a record are words of the program", () => {
  const evil = 'import { writeFileSync } from "node:fs";\nwriteFileSync("canary", "x");\nexport default () => "hi";\n';

  it.each([
    ["modelFor", ["main=scripted:evil.mjs"]],
    ["modelFor", ["main=scripted:ROOT/evil.mjs"]],
    ["set", ["model=scripted:evil.mjs"]],
    ["set", ["model=scripted:ROOT/evil.mjs"]],
    ["set", ["sandbox.paths.w.root=ROOT/../elsewhere"]],
  ])("asks for trust for %s: %j", async (key, texts) => {
    const record = await recordWaiting(write, { "evil.mjs": evil });
    const { root, runId } = record;
    await mkdir(join(root, "../elsewhere"));
    const named = texts.map((text) => text.replace("ROOT", root));
    const poison = (entry: object) => ({ ...entry, compiled: { target: "main.worker", [key]: named } });
    record.write(record.read().map((entry) => (entry.type === "run-start" ? { ...entry, ...poison(entry) } : entry)));
    for (const command of [
      ["resume", runId, "--approve-all"],
      ["fork", runId, "--approve-all"],
      ["replay", runId, "."],
    ]) {
      const { exitCode, stderr } = await runCli(command, { cwd: root });
      expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is not trusted") });
    }
    expect(existsSync(join(root, "canary"))).toBe(false);
    expect(existsSync(join(root, "../elsewhere/out.txt"))).toBe(false);
  });

  it("still takes a model by name", async () => {
    const record = await recordWaiting(write, { "other.yaml": "- reply: other\n" });
    const { root, runId } = record;
    const { exitCode, stdout } = await runCli(
      ["fork", runId, "anew", "--model-for", "main=scripted:other.yaml", "--reject-all"],
      {
        cwd: root,
      },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "other\n" });
  });
});

describe("the target in a record", () => {
  it.each(["../other/main.worker", "link/main.worker", "../program/../other/main.worker"])(
    "is in the program: %s",
    async (target) => {
      const record = await recordWaiting(write);
      const { root, runId } = record;
      const other = join(dirname(root), "other");
      await mkdir(join(other, "w"), { recursive: true });
      await writeFile(join(other, "main.worker"), readFileSync(join(root, "main.worker")));
      await writeFile(join(other, "script.yaml"), readFileSync(join(root, "script.yaml")));
      symlinkSync(other, join(root, "link"));
      const entries = record.read();
      record.write(entries.map((entry) => (entry.type === "run-start" ? { ...entry, compiled: { target } } : entry)));
      for (const command of ["resume", "fork"]) {
        const { exitCode, stderr } = await runCli([command, runId, "--approve-all"], { cwd: root });
        expect({ exitCode, stderr }).toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining("not in the program's folder"),
        });
      }
      expect(existsSync(join(other, "w/out.txt"))).toBe(false);
    },
  );
});

it("goes on with a run that another folder began, with the script that it named there", async () => {
  const record = await recordWaiting(write, {
    "sub/other.yaml": `- reply: { calls: [${JSON.stringify(write)}] }\n- reply: other\n`,
  });
  const { root } = record;
  const cwd = join(root, "sub");
  const held = await runCli(["run", "..", "go", "--hold", "--set", "model=scripted:other.yaml"], {
    cwd,
    env: { LLM_DO_STATE_DIR: join(root, "../state") },
  });
  expect(held.exitCode).toBe(4);
  const { exitCode, stdout } = await runCli(["resume", "--approve-all"], { cwd: root });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "other\n" });
});

describe("the name of a file in a record", () => {
  const reply = { text: "hi", files: [{ name: "art.txt", text: "made" }], calls: [write] };

  it.each(["../../outside/planted", "../../outside/.planted", "a/b\u001b]0;x\u0007c", "\u202Etxt.exe"])(
    "is one name: %j",
    async (name) => {
      const record = await recordWaiting(write, { "script.yaml": `- reply: ${JSON.stringify(reply)}\n- reply: done\n` });
      const { root, runId } = record;
      for (const folder of ["o", "outside"]) mkdirSync(join(root, "..", folder));
      const entries: readonly RecordedEntry[] = JSON.parse(
        JSON.stringify(record.read()).replaceAll('"art.txt"', JSON.stringify(name)),
      );
      expect(entries.filter(({ type }) => type === "artifact")).toMatchObject([{ name }]);
      record.write(entries);
      for (const command of [
        ["fork", runId, "--approve-all", "-o", "../o/"],
        ["resume", runId, ".", "--approve-all", "-o", "../o/"],
      ]) {
        const { exitCode, stderr } = await runCli(command, { cwd: root });
        expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("llm-do: made") });
      }
      const kept = readdirSync(join(root, "../state/runs"), { recursive: true, encoding: "utf8" });
      const names = [...readdirSync(join(root, "../o/artifacts")), ...kept.filter((path) => path.includes("/artifacts/"))];
      expect(names.length).toBeGreaterThan(2);
      for (const one of names) expect(one.replace(/^.*\//, "")).toMatch(/^[\w][\w. -]*$/);
      expect(readdirSync(join(root, "../outside"))).toEqual([]);
    },
  );
});
