import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { runCli, script, writeProgram } from "./run-cli.ts";

const question = "  no      do not run it\n>";

function worker(toolsets: string, more = ""): string {
  return `---\ndescription: Go.\nmodel: scripted:model.yaml\ntoolsets: ${toolsets}\n${more}---\nGo.\n`;
}

function code(approval: string, calls = ""): string {
  return `import { tool } from "llm-do";
export const shout = tool({
  description: "Say it loudly.",
  input: { type: "object" },
  approval: ${JSON.stringify(approval)},
  ${calls}
  run: () => "!",
});
`;
}

async function program(): Promise<string> {
  return writeProgram({
    "main.worker": worker("{ shout: {} }"),
    "other.worker": worker("{ filesystem: {} }", 'sandbox: { paths: { home: { root: "..", mode: rw } } }\n'),
    "deep.worker": worker("{ filesystem: {} }"),
    "tools.ts": code("ask"),
    "model.yaml": script({ "*": ["done"] }),
  });
}

/** Runs at a terminal, gives this answer to each question of trust, and tells what was asked. */
async function trust(cwd: string, answer: string, args: readonly string[] = ["."]): Promise<string> {
  const terminal = openTerminal([...args, "go", "--reject-all"], { cwd });
  await terminal.waitFor(question);
  terminal.type(`${answer}\r`);
  const exitCode = await terminal.exitCode;
  expect(exitCode, terminal.screen()).toBe(answer === "n" ? 2 : 0);
  return terminal.screen();
}

function run(cwd: string, args: readonly string[] = ["."]) {
  return runCli([...args, "go", "--reject-all"], { cwd });
}

describe("trust for good", { timeout: 90_000 }, () => {
  it("holds for edits, and for programs that can do less", async () => {
    const cwd = await program();
    await trust(cwd, "always");
    expect((await run(cwd)).exitCode).toBe(0);
    await writeFile(join(cwd, "main.worker"), worker("{ shout: {} }").replace("---\nGo.", "---\nGo further."));
    await writeFile(join(cwd, "tools.ts"), `${code("ask")}// An edit.\n`);
    expect((await run(cwd)).exitCode).toBe(0);
    await writeFile(join(cwd, "main.worker"), worker("{}"));
    expect((await run(cwd)).exitCode).toBe(0);
  });

  it("is asked for again when a file lets the program do more, and says what; the code is not run before", async () => {
    const cwd = await program();
    await trust(cwd, "always");
    const more = worker('{ shout: { _approval_config: { "*": { pre_approved: true } } }, filesystem: {} }');
    await writeFile(join(cwd, "main.worker"), more);
    await writeFile(join(cwd, "tools.ts"), `throw new Error("imported");\n${code("ask")}`);
    const unattended = await run(cwd);
    expect(unattended.exitCode).toBe(2);
    expect(unattended.stderr).not.toContain("imported");
    expect(unattended.stderr).toContain(`${cwd} is trusted, and can do more now than it could then:\n`);
    expect(unattended.stderr).toContain("  main calls filesystem/write_file, after a question\n");
    expect(unattended.stderr).toContain("pass --trust");
    expect((await runCli(["check"], { cwd })).stderr).toContain("its folder is not trusted for all that it could do now");
    await writeFile(join(cwd, "tools.ts"), code("ask"));
    expect((await runCli([".", "go", "--reject-all", "--trust"], { cwd })).exitCode).toBe(0);
    expect(await trust(cwd, "n")).toContain("is not trusted for this, and nothing of it has run");
    expect(await trust(cwd, "y")).toContain("can do more now");
    expect((await run(cwd)).exitCode).toBe(2);
    await trust(cwd, "always");
    expect((await run(cwd)).exitCode).toBe(0);
  });

  it("is asked for again when its code lets the program do more", async () => {
    const cwd = await program();
    await trust(cwd, "always");
    await writeFile(join(cwd, "tools.ts"), code("pre-approved", 'calls: ["deep"],'));
    const screen = await trust(cwd, "always");
    expect(screen).toContain("main calls shout/shout, without a question");
    expect(screen).toContain("deep is a new worker");
    expect((await run(cwd)).exitCode).toBe(0);
  });

  it("counts what each entry of a folder can do, and forgets none of them", async () => {
    const cwd = await program();
    await trust(cwd, "always");
    expect(await trust(cwd, "always", ["other.worker"])).toContain(`other reads and writes ${dirname(cwd)}`);
    for (const target of ["main.worker", "other.worker", "."]) expect((await run(cwd, [target])).exitCode).toBe(0);
  });

  it("is asked for once more where what it was for was not recorded", async () => {
    const cwd = await program();
    const store = join(dirname(cwd), "state/trust.json");
    await mkdir(dirname(store));
    await writeFile(store, JSON.stringify({ v: 1, folders: { [cwd]: "2026-01-01T00:00:00.000Z" } }));
    expect((await run(cwd)).stderr).toContain(
      "is trusted, but what for was not recorded in full. Its program:\n  runs code: tools.ts\n",
    );
    await trust(cwd, "always");
    expect((await run(cwd)).exitCode).toBe(0);
    expect(JSON.parse(await readFile(store, "utf8")).v).toBe(2);
  });

  it("gives the reasons that apply, one a line, and comes again for a package, a variable and a redirection", async () => {
    const files = (version: string, config: string, rule: string): Record<string, string> => ({
      "main.worker": `---\nmodel: scripted:model.yaml\ntoolsets:\n  db: ${config}\n  shell: { rules: [{ pattern: echo${rule} }] }\nsandbox: { paths: { w: { root: .. } } }\n---\nGo.\n`,
      "tools.ts": `import { tool, toolset } from "llm-do";\nimport "dep";\nconst ping = tool({ name: "ping", input: { type: "object" }, run: () => 1 });
export const db = toolset({ name: "db", config: { type: "object" }, tools: () => [ping] });\n`,
      "node_modules/dep/package.json": `{"name":"dep","version":"${version}","main":"index.js"}`,
      "node_modules/dep/index.js": "",
      "model.yaml": script({ "*": ["done"] }),
    });
    const cwd = await writeProgram(files("1.0.0", "{ url: '${HOME}' }", ""));
    const asked = await runCli([".", "go", "--reject-all"], { cwd });
    expect(asked.exitCode).toBe(2);
    expect(asked.stderr).toContain(
      `${cwd} is not trusted, and its program:
  runs code: tools.ts
  runs programs of this machine in: main
  takes variables of the environment: HOME
  reaches beyond its folder in main: reads ${dirname(cwd)}
  loads packages: dep 1.0.0 (node_modules/dep)
`,
    );
    await trust(cwd, "always");
    expect((await run(cwd)).exitCode).toBe(0);
    for (const [path, text] of Object.entries(files("1.0.1", "{ url: '${HOME} ${USER}' }", ", reads: [w]")))
      await writeFile(join(cwd, path), text);
    const grown = await run(cwd);
    expect(grown.exitCode).toBe(2);
    for (const row of [
      "its code loads the package dep 1.0.1 (node_modules/dep)",
      "its configuration takes the variable USER of the environment",
      "main has the rule shell: echo, after a question unless pre-approved, reading w",
    ])
      expect(grown.stderr).toContain(`  ${row}\n`);
  });

  it("does not count what the user names on the command line", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\ntoolsets: { shout: {} }\n---\nGo.\n",
      "tools.ts": code("ask"),
      "one.yaml": script({ "*": ["done"] }),
      "two.yaml": script({ "*": ["done"] }),
    });
    await trust(cwd, "always", [".", "--model", "scripted:one.yaml"]);
    expect((await run(cwd, [".", "--model", "scripted:two.yaml"])).exitCode).toBe(0);
  });
});

describe("llm-do trust", { timeout: 90_000 }, () => {
  it("lists what is trusted, and for what", async () => {
    const cwd = await program();
    expect(await runCli(["trust", "list"], { cwd })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "llm-do: no folder is trusted\n",
    });
    expect((await runCli(["trust", "list", "--json"], { cwd })).stdout).toBe("[]\n");
    await trust(cwd, "always");
    const { stdout } = await runCli(["trust", "list"], { cwd });
    expect(stdout).toMatch(new RegExp(`^${cwd}\n  since 20\\S+Z\n  workers: main\n  code: tools\\.ts\n$`));
    const [row] = JSON.parse((await runCli(["trust", "list", "--json"], { cwd })).stdout);
    expect(row).toMatchObject({ folder: cwd, exists: true, reach: { code: ["tools.ts"] } });
    await rm(cwd, { recursive: true });
    expect((await runCli(["trust", "list"], { cwd: dirname(cwd), env: stateOf(cwd) })).stdout).toContain(
      "  the folder is gone\n",
    );
  });

  it("revokes: the next run asks again", async () => {
    const cwd = await program();
    await trust(cwd, "always");
    expect(await runCli(["trust", "revoke"], { cwd })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: `llm-do: ${cwd} is no longer trusted\n`,
    });
    expect((await run(cwd)).exitCode).toBe(2);
    await trust(cwd, "always");
    const revoked = await runCli(["trust", "revoke", ".", "--json"], { cwd });
    expect(JSON.parse(revoked.stdout)).toEqual({ revoked: cwd });
  });

  it("names folders near one that is not trusted", async () => {
    const cwd = await program();
    const none = await runCli(["trust", "revoke"], { cwd });
    expect(none).toMatchObject({ exitCode: 2, stdout: "", stderr: `llm-do: ${cwd} is not trusted; no folder is\n` });
    await trust(cwd, "always");
    for (const wrong of ["..", "workers", "../progam"]) {
      const { exitCode, stderr } = await runCli(["trust", "revoke", wrong], { cwd });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
      expect(stderr).toContain(`did you mean ${cwd}?`);
    }
    expect((await runCli(["trust", "revoke", "/nowhere"], { cwd })).stderr).toContain(
      "llm-do trust list shows the folders that are",
    );
    expect((await run(cwd)).exitCode).toBe(0);
  });
});

function stateOf(cwd: string): Record<string, string> {
  return { LLM_DO_STATE_DIR: join(dirname(cwd), "state") };
}
