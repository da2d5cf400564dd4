import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { runsIn } from "../records.ts";
import { World } from "./world.ts";

const main = "---\ndescription: x\n---\nGo.\n";
const model = 'export default () => "done";\n';

function fifo(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync("mkfifo", [path]);
}

/** A file of that many bytes that takes no room on the disk. */
function sparse(path: string, bytes: number): void {
  writeFileSync(path, "");
  truncateSync(path, bytes);
}

const run = [".", "go", "--headless", "--model", "scripted:../model.mjs"];

const everyCommand: Readonly<Record<string, readonly string[]>> = {
  check: ["check", "."],
  explain: ["explain", "."],
  "a dry run": [...run, "--dry-run"],
  "a run": run,
};

const places: Readonly<Record<string, { readonly path: string; readonly main?: string }>> = {
  manifest: { path: "llm-do.yaml" },
  "entry's file": { path: "main.worker" },
  "description of the package": { path: "package.json", main: '---\ndescription: x\ntoolsets: { "@a/b:C": {} }\n---\n' },
  "program's code": { path: "tools.ts", main: "---\ndescription: x\ntoolsets: { t: {} }\n---\n" },
  fragment: { path: "notes.md", main: "---\ndescription: x\nfragments: [notes.md]\n---\n" },
  template: { path: "part.md", main: '---\ndescription: x\n---\n{% render "part.md" %}\n' },
  schema: { path: "schemas.ts", main: "---\ndescription: x\ninput: ./schemas.ts:In\n---\n" },
};

/** Two commands for each place, in turn; all where `LLM_DO_COMMANDS` is `all`. */
function isPlayed(command: string, place: string): boolean {
  const turn = Object.keys(everyCommand).indexOf(command) + Object.keys(places).indexOf(place);
  return turn % 2 === 0 || process.env["LLM_DO_COMMANDS"] === "all";
}

describe.skipIf(process.platform === "win32")("special files in the place of files", () => {
  for (const [command, args] of Object.entries(everyCommand)) {
    test(`${command} refuses a pipe in the places of a program, and waits for none`, async () => {
      for (const [place, { path, main: text }] of Object.entries(places).filter(([name]) => isPlayed(command, name))) {
        const world = new World({ "main.worker": text ?? main, "../model.mjs": model });
        if (path === "main.worker") execFileSync("rm", [world.at("program/main.worker")]);
        fifo(world.at(`program/${path}`));
        const { exitCode, stderr, stdout } = await runCli(args, { cwd: world.at("program") });
        expect({ place, exitCode, names: `${stdout}${stderr}`.includes(path) }).toEqual({ place, exitCode: 2, names: true });
      }
    });
  }

  test("reports a journal that is a pipe in `runs`", async () => {
    const world = new World({ "main.worker": main });
    const runs = runsIn(world.at("program"), world.at("state"));
    fifo(join(runs, "20260101-000000-aaaaaa/journal.jsonl"));
    writeFileSync(join(runs, "program.json"), JSON.stringify({ root: world.at("program") }));
    const list = await runCli(["runs", "list", "."], { cwd: world.at("program") });
    expect(list).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("no regular file") });
    const shown = await runCli(["runs", "show", "last", "."], { cwd: world.at("program") });
    expect(shown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no regular file") });
  });

  test("trusts no folder if the store of trust is a pipe", async () => {
    const world = new World({
      "main.worker": "---\ndescription: x\ntoolsets: { t: {} }\n---\n",
      "tools.ts": "export const t = 1;\n",
      "../model.mjs": model,
    });
    fifo(world.at("state/trust.json"));
    const { exitCode, stderr } = await runCli(run, {
      cwd: world.at("program"),
      env: { LLM_DO_STATE_DIR: world.at("state") },
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("trust.json cannot be read") });
  });

  test("refuses endless files, and files larger than any source, before they are read", async () => {
    for (const path of ["llm-do.yaml", "main.worker", "tools.ts", "notes.md"]) {
      const text = "---\ndescription: x\ntoolsets: { t: {} }\nfragments: [notes.md]\n---\n";
      const world = new World({ "main.worker": text, "tools.ts": "export const t = 1;\n", "notes.md": "x" });
      sparse(world.at(`program/${path}`), 2 ** 34);
      const { exitCode, stderr, stdout } = await runCli(["check", "."], { cwd: world.at("program") });
      expect({ path, exitCode }).toEqual({ path, exitCode: 2 });
      expect(`${stdout}${stderr}`).toContain("this is larger than");
      execFileSync("rm", [world.at(`program/${path}`)]);
      symlinkSync("/dev/zero", world.at(`program/${path}`));
      expect((await runCli(["check", "."], { cwd: world.at("program") })).exitCode).toBe(2);
    }
  });
});

describe("links out of a program", () => {
  test("reads and shows no manifest through a link", async () => {
    const world = new World({ "main.worker": main });
    symlinkSync(world.at("outside/file"), world.at("program/llm-do.yaml"));
    const { exitCode, stderr, stdout } = await runCli(["check", "."], { cwd: world.at("program") });
    expect(exitCode).toBe(2);
    expect(`${stdout}${stderr}`).toContain("`llm-do.yaml` is a link that leads out of the program's folder");
    expect(`${stdout}${stderr}`).not.toContain("canary");
  });

  test("a run is recorded in no folder of its program, wherever that leads", async () => {
    const world = new World({ "main.worker": main, "../model.mjs": model });
    symlinkSync(world.at("outside"), world.at("program/.llm-do"));
    const env = { LLM_DO_STATE_DIR: world.at("state") };
    const { exitCode, stdout } = await runCli([...run, "-v"], { cwd: world.at("program"), env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
    expect(readdirSync(world.at("outside"))).toEqual(["file"]);
    expect((await runCli(["runs", "list", "."], { cwd: world.at("program"), env })).stdout).toMatch(/^\S+ {2}.*done/);
  });

  test("shows no journals of another program through a link", async () => {
    const world = new World({ "main.worker": main, "../other/main.worker": main, "../model.mjs": model });
    expect((await runCli(run, { cwd: world.at("other") })).exitCode).toBe(0);
    symlinkSync(join(world.root, "other/.llm-do"), world.at("program/.llm-do"));
    const shown = await runCli(["runs", "list", "."], { cwd: world.at("program") });
    expect(shown).toMatchObject({ exitCode: 0, stdout: "" });
  });
});
