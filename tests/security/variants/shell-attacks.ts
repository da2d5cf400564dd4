import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { run } from "../../../src/index.ts";
import type { JsonValue } from "../../../src/protocol/json.ts";
import { type ScriptedCall, scriptedModel } from "../../../src/testing/index.ts";
import { testPath } from "../../host/command-bench.ts";
import { Machine } from "../../shell/machine.ts";

/** One command line of a table. Each has a folder of its own, in which it runs. */
export interface ShellRow {
  readonly title: string;
  /** Bash that prepares the folder. `$EVIL` is a script that leaves the file `ran` in the folder. */
  readonly setup?: string;
  /** `PORT` is the port of the test's server, `FOLDER` the path of the row's folder. */
  readonly command: string;
  /** Below the row's folder. */
  readonly cwd?: string;
  /** A program without which the row is skipped. */
  readonly needs?: string;
  /** Output of a successful attack, or of an honest use. */
  readonly prints?: string;
  /** Request that a successful attack sends. */
  readonly sends?: string;
}

export interface ShellTable {
  /** Patterns that allow without a question. */
  readonly rules: readonly string[];
  readonly rows: readonly ShellRow[];
  readonly network?: boolean;
  readonly port?: number;
  /** Further scopes by their folder below the scope of all rows. */
  readonly scopes?: Readonly<Record<string, string>>;
}

export interface PlayedRow {
  readonly outcome: string;
  /** Result of the call, as text. */
  readonly text: string;
  readonly before: string;
  readonly after: string;
  readonly hasRun: boolean;
}

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
const bashOptions = ["--noprofile", "--norc", "-c"];
const callsPerTurn = 10;

/** A table of command lines on a real disk: played by a model through a whole run with nobody to ask, and given to bash. */
export class ShellAttacks {
  readonly #machine = new Machine();
  readonly #table: ShellTable;

  constructor(table: ShellTable) {
    this.#table = table;
    const { scopes = {}, rules, network = false } = table;
    const patterns = rules.map((pattern) => `{ pattern: ${JSON.stringify(pattern)}, approval_required: false }`);
    const further = Object.entries(scopes).map(
      ([name, rest]) => `, s${name.replaceAll("/", "-")}: { root: ./w/${name}, ${rest} }`,
    );
    const sandbox = `{ network_enabled: ${network}, paths: { w: { root: ./w, mode: rw }${further.join("")} } }`;
    const shell = `{ rules: [${patterns.join(", ")}] }`;
    this.#machine.put("main.worker", `---\nsandbox: ${sandbox}\ntoolsets: { shell: ${shell} }\n---\nGo.\n`);
    for (const [index, row] of table.rows.entries()) this.#prepare(index, row);
  }

  #prepare(index: number, { title, setup = "", needs }: ShellRow): void {
    const folder = this.folder(index);
    this.#machine.put(`w/${index}/a.txt`, "one\n");
    this.#machine.put(`w/${index}/evil.sh`, `#!/bin/sh\ntouch "${folder}/ran"\ncat\n`, 0o755);
    for (const name of Object.keys(this.#table.scopes ?? {})) {
      if (name.startsWith(`${index}/`)) this.#machine.put(`w/${name}/n.txt`, "topsecret\n");
    }
    if (needs !== undefined && !isInstalled(needs)) return;
    const { status, stderr } = this.#spawn(folder, `set -e\n${setup}\nrm -f ran`);
    if (status !== 0) throw new Error(`${title}: ${stderr}`);
  }

  folder(index: number): string {
    return join(this.#machine.root, "w", String(index));
  }

  #command(index: number): string {
    const command = this.#table.rows[index]?.command ?? "";
    return command.replaceAll("PORT", String(this.#table.port)).replaceAll("FOLDER", this.folder(index));
  }

  #state(index: number): string {
    return JSON.stringify(this.#machine.snapshot(`w/${index}`));
  }

  hasRun(index: number): boolean {
    return existsSync(join(this.folder(index), "ran"));
  }

  /** All rows in one run. What a row leaves behind is looked at when the run has ended. */
  async play(): Promise<readonly PlayedRow[]> {
    const { rows } = this.#table;
    const results: JsonValue[] = [];
    const before = rows.map((_, index) => this.#state(index));
    const calls = rows.map(({ cwd }, index): ScriptedCall => {
      const args = { command: this.#command(index), timeout: 10, cwd: join("w", String(index), cwd ?? "") };
      return { tool: "shell", args };
    });
    const model = scriptedModel(({ turn, toolResults }) => {
      results.push(...toolResults().map(({ result }) => result as JsonValue));
      const some = calls.slice((turn - 1) * callsPerTurn, turn * callsPerTurn);
      return some.length === 0 ? "done" : { calls: some };
    }, "test:model");
    const { root } = this.#machine;
    const environment = { PATH: testPath, LLM_DO_STATE_DIR: join(root, "state") };
    await run({
      target: root,
      input: "go",
      approval: { mode: "prompt" },
      trust: true,
      journal: false,
      host: createNodeHost({ environment, workingDirectory: root, homeDirectory: join(root, "home") }),
      model: "test:model",
      providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
    });
    return rows.map((_, index) => {
      const result = results[index] as { readonly ok: boolean; readonly error?: { readonly type: string } };
      const outcome = result.ok ? "ran" : (result.error?.type ?? "");
      const text = JSON.stringify(result);
      return { outcome, text, before: before[index] ?? "", after: this.#state(index), hasRun: this.hasRun(index) };
    });
  }

  /** The row's line as bash runs it, without anybody who judges it. */
  bash(index: number): { readonly text: string; readonly after: string } {
    const { cwd = "" } = this.#table.rows[index] ?? {};
    const { stdout, stderr } = this.#spawn(join(this.folder(index), cwd), this.#command(index));
    return { text: stdout + stderr, after: this.#state(index) };
  }

  /** The same for a line that speaks to a server of this process. */
  start(index: number): Promise<void> {
    const child = spawn("bash", [...bashOptions, this.#command(index)], {
      cwd: this.folder(index),
      env: this.#environment(""),
      stdio: "ignore",
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", () => resolve());
    });
  }

  #spawn(cwd: string, script: string) {
    const folder = cwd.slice(join(this.#machine.root, "w").length + 1).split("/")[0] ?? "";
    const env = this.#environment(join(this.#machine.root, "w", folder, "evil.sh"));
    return spawnSync("bash", [...bashOptions, script], { cwd, env, encoding: "utf8", timeout: 10_000 });
  }

  #environment(evil: string): Record<string, string> {
    return { ...identity, PATH: testPath, HOME: this.#machine.root, EVIL: evil, GIT_CONFIG_NOSYSTEM: "1" };
  }

  remove(): void {
    this.#machine.remove();
  }
}

export function isInstalled(program: string): boolean {
  return testPath.split(delimiter).some((folder) => existsSync(join(folder, program)));
}
