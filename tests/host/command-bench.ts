import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { CommandRequest, CommandResult } from "../../src/host/commands.ts";
import type { Host, OpenScopesOptions } from "../../src/host/host.ts";
import { createNodeHost, type NodeHostOverrides } from "../../src/host/node-host.ts";
import type { ScopeDeclaration, Scopes } from "../../src/host/scopes/scopes.ts";

export const canary = "canary: this lies outside";

/** The programs of the system, and node; nothing of the developer's. */
export const testPath = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;

const isolation = await createNodeHost().commands.isolation();

/** Empty where the wall works; otherwise why it is not tested, for `describe.skipIf`. Said aloud. */
export const noWall = isolation.type === "bubblewrap" ? "" : isolation.type === "none" ? isolation.why : isolation.type;
if (noWall !== "") {
  if (process.env["LLM_DO_REQUIRE_WALL"]) throw new Error(`the wall must be tested here, but: ${noWall}`);
  process.stderr.write(`\n*** THE KERNEL WALL IS NOT TESTED: ${noWall} ***\n\n`);
}

export type Asked = Partial<Omit<CommandRequest, "cwd" | "command">> & { readonly cwd?: string };

/** Runs git in a folder of the bench, outside of the wall. Returns what it prints. */
export function useGit({ at }: { readonly at: (path: string) => string }) {
  return (folder: string, ...args: string[]) =>
    execFileSync("git", ["-C", at(folder), "-c", "user.name=a", "-c", "user.email=a@b", ...args], { stdio: "pipe" }).toString();
}

/** A folder `in` with a scope `s` on it, one `outside` with a canary, and what it takes to run commands. */
export function useCommands(overrides: NodeHostOverrides) {
  const opened: Scopes[] = [];
  const bench = {
    root: "",
    host: undefined as unknown as Host,
    scopes: undefined as unknown as Scopes,
    at: (path: string) => join(bench.root, path),
    put: (path: string, text: string) => {
      mkdirSync(dirname(bench.at(path)), { recursive: true });
      writeFileSync(bench.at(path), text);
    },
    read: (path: string) => readFileSync(bench.at(path), "utf8"),
    async open(declarations: readonly Partial<ScopeDeclaration>[], options?: OpenScopesOptions): Promise<Scopes> {
      const full = declarations.map((one): ScopeDeclaration => ({ name: "s", root: bench.at("in"), mode: "rw", ...one }));
      const scopes = await bench.host.openScopes(full, options);
      opened.push(scopes);
      return scopes;
    },
    bash: (script: string, asked?: Asked) => run({ type: "bash", script }, asked),
    argv: (argv: readonly string[], asked?: Asked) => run({ type: "argv", argv }, asked),
  };

  function run(command: CommandRequest["command"], { cwd = "s", ...asked }: Asked = {}): Promise<CommandResult> {
    const scopes = asked.scopes ?? bench.scopes;
    return bench.host.commands.run({
      command,
      scopes,
      cwd: scopes.resolve(cwd),
      network: false,
      timeoutMilliseconds: 30_000,
      maxOutputBytes: 50_000,
      isolationRequired: overrides.wall !== false,
      signal: new AbortController().signal,
      ...asked,
    });
  }

  beforeEach(async () => {
    bench.root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-command-")));
    mkdirSync(bench.at("in"));
    bench.put("outside/file", canary);
    bench.host = createNodeHost({ environment: { PATH: testPath }, ...overrides });
    bench.scopes = await bench.open([{}]);
  });
  afterEach(async () => {
    for (const scopes of opened.splice(0)) await scopes.close();
    execFileSync("chmod", ["-R", "u+rwx", bench.root]);
    rmSync(bench.root, { recursive: true, force: true });
  });
  return bench;
}

let counted = 0;

/** A number of seconds that no other test sleeps for, and that is no part of another one. */
export function uniqueSeconds(): string {
  return `${10_000_000 + process.pid}.${String(++counted).padStart(4, "0")}`;
}

/** Processes on this machine that have this as an argument. */
export function processesWith(word: string): readonly string[] {
  return processes((line) => line.split("\0").includes(word));
}

/** Also those that are only about to start such a one. */
export function processesThatMention(text: string): readonly string[] {
  return processes((line) => line.includes(text));
}

function processes(matches: (line: string) => boolean): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return matches(line) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}

export async function until(condition: () => boolean, milliseconds = 20_000, pause = 20): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() > end) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
