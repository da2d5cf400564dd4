import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { runCli, script, writeProgram } from "./run-cli.ts";

const tools = `import { appendFileSync } from "node:fs";
import { tool } from "llm-do";
import { z } from "zod";

appendFileSync(new URL("imported.txt", import.meta.url), "x");

export const shout = tool({
  description: "Say it loudly.",
  input: z.object({ text: z.string() }),
  run: ({ text }) => text.toUpperCase(),
});

export const whisper = tool({
  description: "Say it quietly.",
  input: z.object({ text: z.string() }),
  approval: "pre-approved",
  run: ({ text }) => text.toLowerCase(),
});

export const delegate = tool({
  description: "Have it analyzed.",
  input: z.object({ text: z.string() }),
  approval: "pre-approved",
  calls: ["analyzer"],
  run: async ({ text }, runtime) => ({ analyzed: await runtime.call("analyzer", { input: text }) }),
});

export async function main(input: { input: string }, runtime: import("llm-do").WorkerRuntime) {
  const analyzed = await runtime.call("analyzer", { input: input.input });
  return { analyzed, loud: await runtime.call("shout", { text: String(analyzed) }) };
}
`;

/** A program with code, in a folder without any package; its models are data. */
function program(replies: readonly unknown[], toolset: string): Promise<string> {
  return writeProgram({
    "main.worker": `---\ndescription: Start.\nmodel: scripted:model.yaml\ntoolsets: { ${toolset}: {} }\n---\nGo.\n`,
    "analyzer.worker": "---\ndescription: Analyze.\nmodel: scripted:model.yaml\n---\nAnalyze.\n",
    "tools.ts": tools,
    "model.yaml": script({ main: replies, analyzer: ["thorough"] }),
  });
}

async function timesImported(cwd: string): Promise<number> {
  return (await readFile(join(cwd, "imported.txt"), "utf8").catch(() => "")).length;
}

const shouting = [{ calls: [{ tool: "shout", args: { text: "hello" } }] }, "done"];

describe("tools.ts", { timeout: 40_000 }, () => {
  it("is found to need `llm-do` and `zod` in a folder without a package; its tools ask", async () => {
    const cwd = await program(shouting, "shout");
    const unattended = await runCli([".", "go", "--trust"], { cwd });
    expect(unattended.exitCode).toBe(4);
    expect(unattended.stderr).toContain(
      "  in main: toolsets: { shout: { _approval_config: { shout: { pre_approved: true } } } }\n",
    );
    const approved = await runCli([".", "go", "--trust", "--approve-all", "-v"], { cwd });
    expect(approved.exitCode).toBe(0);
    expect(approved.stderr).toContain('main > shout#0 gave "HELLO"');
  });

  it("can pre-approve a tool", async () => {
    const cwd = await program([{ calls: [{ tool: "whisper", args: { text: "HELLO" } }] }, "done"], "whisper");
    const { exitCode, stderr } = await runCli([".", "go", "--trust", "-v"], { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('main > whisper#0 gave "hello"');
  });

  it("tells the model of arguments that do not fit", async () => {
    const cwd = await program([{ calls: [{ tool: "whisper", args: { txt: 1 } }] }, "done"], "whisper");
    const { exitCode, stderr } = await runCli([".", "go", "--trust", "-v"], { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("main > whisper#0 failed (invalid_arguments): the arguments of `whisper` do not fit: text:");
  });

  it("calls a worker through the gate", async () => {
    const cwd = await program([{ calls: [{ tool: "delegate", args: { text: "this" } }] }, "done"], "delegate");
    const approved = await runCli([".", "go", "--trust", "--approve-all", "-v"], { cwd });
    expect(approved.exitCode).toBe(0);
    expect(approved.stderr).toContain("main > delegate#0 > analyzer#0 approved by approve_all\n");
    expect(approved.stderr).toContain('main > delegate#0 gave {"analyzed":"thorough"}');
    const denied = await runCli([".", "go", "--trust", "-v"], { cwd });
    expect(denied.exitCode).toBe(4);
    expect(denied.stderr).not.toContain("analyzer#0 starts");
  });

  it("starts a run as `--entry tools.ts:main`: it is not asked for, what it calls is", async () => {
    const cwd = await program(["never"], "shout");
    const args = [".", "this", "--entry", "tools.ts:main", "--trust"];
    const approved = await runCli([...args, "--approve-all", "-v"], { cwd });
    expect(approved.stderr).toContain("main > analyzer#0 approved by approve_all\n");
    expect(approved.exitCode).toBe(0);
    expect(JSON.parse(approved.stdout)).toEqual({ analyzed: "thorough", loud: "THOROUGH" });
    const denied = await runCli(args, { cwd });
    expect(denied.stderr).toContain("1 call needed approval, and nobody could be asked");
    expect(denied.exitCode).toBe(4);
    expect(denied.stdout).toBe("");
  });

  it("can be given file by file", async () => {
    const cwd = await program(shouting, "shout");
    const files = ["main.worker", "tools.ts"];
    const { exitCode, stdout } = await runCli([...files, "--trust", "--approve-all", "--", "go"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
  });
});

describe("code that does what it should not", { timeout: 40_000 }, () => {
  const run = async (body: string) => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { misbehave: {} }\n---\nGo.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "misbehave" }] }, "done"] }),
      "tools.ts": `import { tool } from "llm-do";
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
export const misbehave = tool({
  description: "Do it.",
  input: { type: "object" },
  approval: "pre-approved",
  run: async () => {
    ${body}
    return "result";
  },
});
`,
    });
    return runCli([".", "go", "--trust"], { cwd });
  };

  it("prints: stdout holds the result alone", async () => {
    const { exitCode, stdout, stderr } = await run('console.log("printed"); process.stdout.write("written\\n");');
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "done\n", stderr: "printed\nwritten\n" });
  });

  it("forgets a rejection: the run goes on, and says so", async () => {
    const { exitCode, stdout, stderr } = await run('Promise.reject(new Error("forgotten")); await soon();');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
    expect(stderr).toBe("llm-do: warning: a promise was rejected, and nobody listens to it: forgotten\n");
  });

  it("throws in a timer: the run ends in good order, with 1", async () => {
    const { exitCode, stdout, stderr } = await run('setTimeout(() => { throw new Error("late"); }, 1); await soon();');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe("llm-do: the run was aborted: the program's code failed outside of any call: late\n");
  });

  it("ends the process: that is never 0", async () => {
    const { exitCode, stdout, stderr } = await run("process.exit(0);");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("code of the program called process.exit");
  });
});

describe("trust", { timeout: 40_000 }, () => {
  const question = "  no      do not run it\n>";

  it("is needed before any code of a program runs; without a terminal that is 2, with the way out", async () => {
    const cwd = await program(shouting, "shout");
    const { exitCode, stdout, stderr } = await runCli([".", "go", "--approve-all", "-q"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(`${cwd} is not trusted, and its program:\n  runs code: tools.ts\n`);
    expect(stderr).toContain("--trust");
    const check = await runCli(["check"], { cwd });
    expect(check).toMatchObject({ exitCode: 0 });
    expect(check.stderr).toContain("its code was read and not run");
    expect(await timesImported(cwd)).toBe(0);
  });

  it("is needed before a model is reached where the program says", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: mine:small\n---\nGo.\n",
      "llm-do.yaml": 'providers: { mine: { type: openai-compatible, base_url: "http://127.0.0.1:9/v1" } }\n',
    });
    const untrusted = await runCli([".", "go", "-q"], { cwd });
    expect(untrusted).toMatchObject({ exitCode: 2, stdout: "" });
    expect(untrusted.stderr).toContain("  has its models reached at http://127.0.0.1:9/v1 (the provider mine)\n");
    const check = await runCli(["check"], { cwd });
    expect(check).toMatchObject({ exitCode: 0 });
    expect(check.stderr).not.toContain("its code");
    expect((await runCli(["explain"], { cwd })).stdout).toContain("mine:small at http://127.0.0.1:9/v1");
  });

  it("is asked once at a terminal; no, and what is no answer, run nothing", async () => {
    const cwd = await program(shouting, "shout");
    const terminal = openTerminal([".", "go", "--reject-all"], { cwd });
    await terminal.waitFor("Its code runs with your rights; llm-do explain . shows what else it can do.");
    expect(terminal.screen()).toContain("is not trusted, and its program:\n  runs code: tools.ts\n");
    await terminal.waitFor(question);
    terminal.type("\r");
    await terminal.waitFor("Answer with yes, always or no.");
    // A key of the question about a call, where it approves once.
    terminal.type("a\r");
    await terminal.waitFor("Answer with yes, always or no.");
    terminal.type("n\r");
    expect(await terminal.exitCode).toBe(2);
    expect(await timesImported(cwd)).toBe(0);
    const interrupted = openTerminal([".", "go", "--reject-all"], { cwd });
    await interrupted.waitFor(question);
    interrupted.type("\x03");
    expect(await interrupted.exitCode).toBe(130);
    expect(await timesImported(cwd)).toBe(0);
  });

  it("holds once, or for good: for the folder, whatever path leads to it", async () => {
    const cwd = await program(shouting, "shout");
    const answer = async (key: string) => {
      const terminal = openTerminal([".", "go", "--reject-all"], { cwd });
      await terminal.waitFor(question);
      terminal.type(`${key}\r`);
      expect(await terminal.exitCode).toBe(0);
    };
    await answer("y");
    expect(await timesImported(cwd)).toBe(1);
    await answer("always");
    const store = join(dirname(cwd), "state/trust.json");
    expect(Object.keys(JSON.parse(await readFile(store, "utf8")).folders)).toEqual([cwd]);
    expect((await stat(store)).mode & 0o777).toBe(0o600);
    await symlink(cwd, join(dirname(cwd), "link"));
    for (const target of [cwd, join(dirname(cwd), "link"), join(cwd, "main.worker")]) {
      expect((await runCli([target, "go", "--reject-all"], { cwd })).exitCode).toBe(0);
    }
    expect((await runCli(["check"], { cwd })).stderr).not.toContain("not run");
    await writeFile(store, "{ torn");
    const damaged = await runCli([".", "go", "--reject-all"], { cwd });
    expect(damaged.exitCode).toBe(2);
    expect(damaged.stderr).toContain(`llm-do: warning: ${store} `);
  });

  it("is needed for a script that a worker names as its model, and for none that the user names, nor for data", async () => {
    const code = 'export default () => "from code";\n';
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.mjs\n---\nGo.\n",
      "data.worker": "---\nmodel: scripted:model.yaml\n---\nGo.\n",
      "free.worker": "---\n---\nGo.\n",
      "model.mjs": code,
      "model.yaml": script({ "*": ["from data"] }),
    });
    const named = await runCli([".", "go"], { cwd });
    expect(named.exitCode).toBe(2);
    expect(named.stderr).toContain("  runs code: model.mjs\n");
    expect((await runCli([".", "go", "--trust"], { cwd })).stdout).toBe("from code\n");
    expect((await runCli(["data.worker", "go"], { cwd })).stdout).toBe("from data\n");
    expect((await runCli(["free.worker", "go", "--model", "scripted:model.mjs"], { cwd })).stdout).toBe("from code\n");
    const env = { LLM_DO_MODEL: "scripted:model.mjs" };
    expect((await runCli(["free.worker", "go"], { cwd, env })).stdout).toBe("from code\n");
  });

  it("is no matter for a program without code, though code lies beside it", async () => {
    const cwd = await program(["done"], "filesystem");
    expect(await runCli([".", "go"], { cwd })).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(await timesImported(cwd)).toBe(0);
  });

  it("does not hide other mistakes", async () => {
    const cwd = await program(shouting, "shout");
    await writeFile(join(cwd, "main.worker"), "---\nmodle: x\ntoolsets: { shout: {} }\n---\n");
    const { exitCode, stderr } = await runCli([".", "go"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("did you mean `model`?");
  });
});
