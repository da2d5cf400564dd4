import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli, script, temporaryFolder } from "../cli/run-cli.ts";
import { commandsWithoutRecords, linesWithoutId } from "./record-commands.ts";

interface Reported {
  readonly folder: string;
  readonly words: readonly string[];
  readonly exitCode: number;
  readonly changed: readonly { readonly name: string; readonly paths: readonly string[] }[];
  readonly output: string;
}

/** Several processes start, and each command is called at four terminals. */
const timeout = 300_000;

const write = { calls: [{ tool: "write_file", args: { path: "out.txt", content: "new" } }] };
const program = {
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
  "model.yaml": script({ main: [write, "finished"] }),
  "out.txt": "old",
};

test("a command without an id touches no other program, whatever it is and wherever it is typed", { timeout }, async () => {
  const folder = await temporaryFolder();
  for (const name of ["elsewhere", "home"]) mkdirSync(join(folder, name));
  // The runs of b are newer, and wait for the same.
  for (const name of ["a", "b"]) {
    const cwd = join(folder, name);
    mkdirSync(join(cwd, "deep"), { recursive: true });
    for (const [path, text] of Object.entries(program)) writeFileSync(join(cwd, path), text);
    for (const _ of [1, 2]) expect((await runCli([".", "go", "--hold"], { cwd })).exitCode).toBe(4);
    expect((await runCli(["approve", "last", "1"], { cwd })).exitCode).toBe(0);
    expect((await runCli([".", "go", "--approve-all"], { cwd })).exitCode).toBe(0);
  }
  const player = spawn(process.execPath, [join(import.meta.dirname, "fixtures/play-without-id.ts"), folder], {
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  await once(player, "exit");
  const report: readonly Reported[] = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  expect(report).toHaveLength(linesWithoutId().length * 4);
  // `--all` says that all programs are meant. A page of the newest run lies in its record.
  const isMeant = ({ words, folder: at, changed }: Reported) =>
    (words.includes("prune") && words.includes("--all")) ||
    (!at.startsWith("a") && changed.every(({ paths }) => paths.every((path) => path.endsWith("/pages/view.html"))));
  const harmful = report.filter(
    (one) => !isMeant(one) && one.changed.some(({ name }) => name === "b" || !one.folder.startsWith("a")),
  );
  expect(harmful).toEqual([]);
  const inA = report.filter(({ folder: at, changed }) => at === "a" && changed.some(({ name }) => name === "a"));
  expect(new Set(inA.map(({ words }) => words.slice(0, words[0] === "runs" ? 2 : 1).join(" ")))).toEqual(
    new Set(["resume", "approve", "deny", "fork", "undo", "run", "view", "runs rm", "runs prune"]),
  );
  // Beside two programs, none of them is meant.
  const changing = new Set(inA.filter((one) => !isMeant(one)).map(({ words }) => words.join(" ")));
  const beside = report.filter(({ folder: at, words }) => at === "." && changing.has(words.join(" ")) && words[0] !== "view");
  expect(beside.filter(({ exitCode }) => exitCode !== 2)).toEqual([]);
  expect(beside.filter(({ words, output }) => words.includes("last") && !/is in no program|could be of/.test(output))).toEqual(
    [],
  );
});

test("every other command takes no run of a record", () => {
  const runs = ["mcp", "acp", "test"];
  const programs = ["check", "explain", "verdict", "init", "types", "lsp"];
  const settings = ["models default", "models alias", "config", "keys set", "keys list", "keys rm", "trust list", "trust revoke"];
  const others = ["oauth login", "oauth status", "oauth logout", "docs", "schema", "completion"];
  expect(commandsWithoutRecords().toSorted()).toEqual([...runs, ...programs, ...settings, ...others].toSorted());
});
