import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { openTerminal } from "./open-terminal.ts";
import { startCli, writeProgram } from "./run-cli.ts";

/** A program whose tool `block` runs this code, beside whatever else its model calls in one turn. */
function blocking(
  code: string,
  { calls = ["block"], top = "" }: { readonly calls?: readonly string[]; readonly top?: string } = {},
) {
  const made = calls.map((tool) => (tool === "shell" ? { tool, args: { command: "sleep 31337" } } : { tool }));
  return writeProgram({
    "main.worker": `---
model: scripted:model.mjs
sandbox: { paths: { w: { root: ./w, mode: rw } } }
toolsets: { block: {}, ask: {}, shell: { rules: [], default: { approval_required: false } } }
---
Go.
`,
    "w/x": "",
    "model.mjs": `export default ({ turn }) => (turn === 1 ? { calls: ${JSON.stringify(made)} } : "done");\n`,
    "tools.ts": `import { setTimeout } from "node:timers/promises";
import { tool } from "llm-do";
${top}
const input = { type: "object" };
export const ask = tool({ description: "Ask.", input, run: () => null });
export const block = tool({ description: "Block.", input, approval: "pre-approved", run: async () => { ${code} } });
`,
  });
}

const loop = 'process.stderr.write("it loops\\n"); for (;;);';
/** Keeps the thread as a loop does, and costs no processor time. */
const halt = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";

async function journalOf(cwd: string): Promise<readonly { readonly type: string }[]> {
  const [run = ""] = await readdir(cliRuns(cwd));
  const text = await readFile(join(cliRuns(cwd), run, "journal.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function isRunning(argument: string): Promise<boolean> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.some((line) => line.split("\0").includes(argument));
}

describe("code that does not yield", { timeout: 60_000 }, () => {
  it("is ended by a second Ctrl-C, with the commands that run", async () => {
    const cwd = await blocking(`while (!(await running())); ${loop}`, {
      calls: ["shell", "block"],
      top: `import { readdir, readFile, writeFile } from "node:fs/promises";
async function running() {
  const lines = await Promise.all((await readdir("/proc")).map((pid) => readFile("/proc/" + pid + "/cmdline", "utf8").catch(() => "")));
  return lines.some((line) => line.includes("sleep\\u000031337"));
}`,
    });
    const running = startCli([".", "go", "--trust", "--approve-all"], { cwd });
    await running.stderrHolds("it loops");
    running.child.kill("SIGINT");
    await running.stderrHolds("the program's code does not yield; press Ctrl-C again to end at once");
    running.child.kill("SIGINT");
    const { exitCode, stderr } = await running.result;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/llm-do: interrupted, and the program's code does not yield: the process is ended\n$/);
    await expect.poll(() => isRunning("31337"), { timeout: 10_000 }).toBe(false);
    const types = (await journalOf(cwd)).map(({ type }) => type);
    expect(types).toContain("intent");
    expect(types).not.toContain("run-end");
  });

  it("is ended by SIGTERM, and at the limit of seconds", async () => {
    const limited = [".", "go", "--trust", "--limit", "seconds=1"];
    const terminated = startCli([".", "go", "--trust"], { cwd: await blocking(`process.stderr.write("it halts\\n"); ${halt}`) });
    const calling = startCli(limited, { cwd: await blocking(halt) });
    const loading = startCli(limited, { cwd: await blocking("", { top: halt }) });
    const wait = 'import { execFileSync } from "node:child_process"; execFileSync("sleep", ["60"]);';
    const waiting = startCli(limited, { cwd: await blocking("", { top: wait }) });
    await terminated.stderrHolds("it halts");
    terminated.child.kill("SIGTERM");
    expect((await terminated.result).exitCode).toBe(143);
    expect((await loading.result).exitCode).toBe(6);
    const { exitCode, stderr } = await calling.result;
    expect(exitCode).toBe(6);
    expect(stderr).toContain(
      "llm-do: the limit of 1 seconds is reached, and the program's code does not yield: the process is ended",
    );
    expect(await waiting.result).toMatchObject({ exitCode: null, stderr: expect.stringContaining("does not yield") });
  });

  /** Halts once a question has the terminal in raw mode. */
  const atQuestion = {
    calls: ["ask", "block"],
    top: `import { spawnSync } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
const stty = () => spawnSync("stty", ["-a"], { stdio: [openSync("/dev/tty", "r"), "pipe"], encoding: "utf8" }).stdout;`,
  };
  const whenRaw = `while (!stty().includes("-icanon")) await setTimeout(10); writeFileSync("/dev/tty", "it halts"); ${halt}`;

  it("is ended by Ctrl-C at a question, which reads it as a key", async () => {
    const cwd = await blocking(whenRaw, atQuestion);
    const terminal = openTerminal([".", "go", "--trust", "--plain"], { cwd });
    await terminal.waitFor("it halts");
    const pressing = setInterval(() => terminal.type("\x03"), 400);
    expect(await terminal.exitCode.finally(() => clearInterval(pressing))).toBe(130);
    expect(terminal.screen()).toContain("interrupted, and the program's code does not yield: the process is ended");
  });

  it("leaves the terminal as it was", async () => {
    const cwd = await blocking(whenRaw, atQuestion);
    const command = "$LLM_DO . go --trust --limit seconds=2; echo code=$?; stty -a | grep -ow -e -icanon -e icanon";
    const terminal = openTerminal([], { cwd, command });
    await terminal.waitFor("code=6");
    await terminal.exitCode;
    expect(terminal.screen().split("\n").at(-1)).toBe("icanon");
  });
});

describe("a module that never finishes loading", { timeout: 60_000 }, () => {
  const never = 'setInterval(() => undefined, 1000, console.log("it loads")); await new Promise(() => undefined);';

  it("ends the run at the limit of seconds", async () => {
    const cwd = await blocking("", { top: never });
    const running = startCli([".", "go", "--trust", "--json", "--limit", "seconds=1"], { cwd });
    const { exitCode, stdout, stderr } = await running.result;
    expect(exitCode).toBe(6);
    expect(stderr).toContain("llm-do: the limit of 1 seconds is reached, and the program's code has not loaded\n");
    expect(JSON.parse(stdout)).toMatchObject({ stopReason: "limit", exitCode: 6 });
  });

  it("ends the run at the limit of the manifest, also where the code blocks", async () => {
    const [waiting, halting] = await Promise.all([blocking("", { top: never }), blocking("", { top: halt })]);
    for (const cwd of [waiting, halting]) await writeFile(join(cwd, "llm-do.yaml"), "limits: { seconds: 1 }\n");
    const results = await Promise.all([waiting, halting].map((cwd) => startCli([".", "go", "--trust"], { cwd }).result));
    for (const { exitCode, stderr } of results) {
      expect(exitCode).toBe(6);
      expect(stderr).toContain("llm-do: the limit of 1 seconds is reached, and the program's code ");
    }
  });

  it("is left at the first Ctrl-C", async () => {
    const running = startCli([".", "go", "--trust"], { cwd: await blocking("", { top: never }) });
    await running.stderrHolds("it loads");
    running.child.kill("SIGINT");
    const { exitCode, stderr } = await running.result;
    expect(exitCode).toBe(130);
    expect(stderr).toContain("llm-do: interrupted\n");
  });
});
