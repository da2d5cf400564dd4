import { describe, expect, test } from "vitest";
import { NotIsolated } from "../../src/host/commands.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { type ShellConfig, shellConfig } from "../../src/toolsets/shell/config.ts";
import { createShellToolset } from "../../src/toolsets/shell/shell.ts";
import { shellWarnings } from "../../src/toolsets/shell/warnings.ts";
import { ToolFailure, type WorkerRuntime } from "../../src/toolsets/toolset.ts";
import { Machine } from "./machine.ts";
import { allow, ruleSets } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

describe("configuration", () => {
  const issues = async (value: unknown) => {
    const checked = await shellConfig.validate(value);
    return checked.ok ? [] : checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  };

  test("keeps a valid configuration as written", async () => {
    expect(await shellConfig.validate({})).toEqual({ ok: true, value: { rules: [] } });
    expect(await shellConfig.validate(null)).toEqual({ ok: true, value: { rules: [] } });
    const config = {
      rules: [
        { pattern: "git", approval_required: false, sandbox_paths: ["a"], deny_args: ["-f"], approval_required_if_args: ["*"] },
      ],
      default: { approval_required: true },
    };
    expect(await shellConfig.validate(config)).toEqual({ ok: true, value: config });
  });

  test.each([
    [[], [": must be a map"]],
    [{ rule: [] }, ["rule: is unknown; did you mean rules?"]],
    [{ rules: {} }, ["rules: must be a list of maps"]],
    [{ rules: ["git"] }, ['rules.0: must be a map with pattern: { pattern: "git" }']],
    [{ rules: [{}] }, ["rules.0: has no pattern"]],
    [{ rules: [{ pattern: "git" }, { pattern: " " }] }, ["rules.1.pattern: must be a text, such as git log"]],
    [{ rules: [{ pattern: 3 }] }, ["rules.0.pattern: must be a text, such as git log"]],
    [
      { rules: [{ pattern: "a", aproval_required: true }] },
      ["rules.0.aproval_required: is unknown; did you mean approval_required?"],
    ],
    [{ rules: [{ pattern: "a", approval_required: "no" }] }, ["rules.0.approval_required: must be true or false"]],
    [{ rules: [{ pattern: "a", deny_args: "x" }] }, ["rules.0.deny_args: must be a list of texts"]],
    [{ rules: [{ pattern: "a", sandbox_paths: ["x", 1] }] }, ["rules.0.sandbox_paths.1: must be a text"]],
    [
      { rules: [{ pattern: "a", redirect_paths: ["out/**", "/etc/*", "../x", 1] }] },
      [
        "rules.0.redirect_paths.3: must be a text",
        "rules.0.redirect_paths.1: is no glob of a path: A pattern is relative to the folder: it cannot begin with /.",
        'rules.0.redirect_paths.2: is no glob of a path: A pattern cannot hold "..".',
      ],
    ],
    [{ default: true }, ["default: must be a map with approval_required"]],
    [{ default: {} }, ["default: has no approval_required"]],
    [{ default: { approval_required: 1 } }, ["default.approval_required: must be true or false"]],
    [{ default: { approval_required: true, x: 1 } }, ["default.x: is unknown; known are approval_required"]],
    [
      { rules: [{ pattern: 1 }], x: 1 },
      ["x: is unknown; known are rules, default", "rules.0.pattern: must be a text, such as git log"],
    ],
  ])("%j", async (value, expected) => {
    expect(await issues(value)).toEqual(expected);
  });
});

describe("warnings", () => {
  const of = (...patterns: string[]) =>
    shellWarnings({ rules: patterns.map((pattern) => ({ pattern })) }).map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );

  test("are given for a shell that blocks everything", () => {
    expect(shellWarnings({ rules: [] })).toEqual([{ path: [], message: "blocks every command: it has no rules and no default" }]);
    expect(shellWarnings({ rules: [], default: { approval_required: true } })).toEqual([]);
  });

  test.each([
    [["git", "git log"], ["rules.1.pattern: never decides: the earlier rule `git` covers all of it"]],
    [["git *", "git"], ["rules.1.pattern: never decides: the earlier rule `git *` covers all of it"]],
    [["*", "ls"], ["rules.1.pattern: never decides: the earlier rule `*` covers all of it"]],
    [["*", "./x"], ["rules.1.pattern: never decides: the earlier rule `*` covers all of it"]],
    [["npm run *", "npm run test:*"], ["rules.1.pattern: never decides: the earlier rule `npm run *` covers all of it"]],
    [
      ["npm run test:*", "npm run test:unit"],
      ["rules.1.pattern: never decides: the earlier rule `npm run test:*` covers all of it"],
    ],
    [["git log", "git"], []],
    [["git log", "git *"], []],
    [["npm run test:*", "npm run *"], []],
    [["gitx", "git"], []],
    [["git * --oneline", "git log"], []],
    [["git | head"], ["rules.0.pattern: never matches: `|` is no argument; each command of a line is matched alone"]],
    [["git log && ls"], ["rules.0.pattern: never matches: `&&` is no argument; each command of a line is matched alone"]],
    [["git 'a b'"], ["rules.0.pattern: never matches: quotes and backslashes mean nothing in a pattern; write * for a blank"]],
    [["A=1 git"], ["rules.0.pattern: never matches: a variable in front of a command is not part of it"]],
    [["~/x"], ["rules.0.pattern: never matches: a program that only a shell can tell is covered by no rule"]],
  ])("%j", (patterns, expected) => {
    expect(of(...patterns)).toEqual(expected);
  });

  test("are not given for rules behind one with sandbox_paths", () => {
    expect(shellWarnings({ rules: [{ pattern: "rm", sandbox_paths: ["a"] }, { pattern: "rm" }] })).toEqual([]);
  });
});

describe("the tool", () => {
  test("describes the covered commands, and where they run", async () => {
    const { tool, toolset } = await createBench(ruleSets["log"] as ShellConfig);
    expect(toolset.requires).toEqual(["commands"]);
    expect(tool.description).toContain("`git log`, `git status`. All others are blocked");
    expect(JSON.stringify(tool.input.jsonSchema)).toContain("default: .");
  });

  test.each([
    [{}],
    [{ command: "ls", timeout: 0 }],
    [{ command: "ls", timeout: 301 }],
    [{ command: "ls", timeout: 1.5 }],
    [{ command: "" }],
    [{ command: "ls", x: 1 }],
  ])("refuses %j", async (args) => {
    const { tool } = await createBench({ rules: [] });
    expect(await tool.input.validate(args)).toMatchObject({ ok: false });
  });

  test("runs one program without a shell, everything else in one", async () => {
    const rules = allow("git, head, echo, cd, ls, bash");
    const { prepare } = await createBench({ rules });
    const request = async (command: string) => (await prepare({ command })).work.request;
    expect(await request("git  log 'a b'")).toEqual({ type: "argv", argv: ["git", "log", "a b"] });
    expect(await request("# why\ngit log # so")).toEqual({ type: "argv", argv: ["git", "log"] });
    expect(await request("git log | head")).toEqual({ type: "bash", script: "git log | head" });
    expect(await request("ls *.ts")).toEqual({ type: "bash", script: "ls *'.ts'" });
    expect(await request("echo 'a'")).toEqual({ type: "bash", script: "echo a" });
    expect(await request("cd 'src'&&ls")).toEqual({ type: "bash", script: "cd src && ls" });
    expect(await request("bash -c 'git  log|head'")).toEqual({ type: "argv", argv: ["bash", "-c", "git log | head"] });
    expect(await request("ls >|a 2>>'b c'")).toEqual({ type: "bash", script: "ls > 'a' 2>> 'b c'" });
    expect(await request("ls &>a; ls >&b; ls &>>c")).toEqual({
      type: "bash",
      script: "ls > 'a' 2>&1; ls > 'b' 2>&1; ls >> 'c' 2>&1",
    });
    // A text that cannot be written anew is run as it stands, and only with a question.
    expect(await request("ls  $(ls)")).toEqual({ type: "bash", script: "ls  $(ls)" });
  });

  test("returns canonical arguments, and facts that show a swap", async () => {
    const { prepare, host } = await createBench({ rules: allow("cat") });
    const before = await prepare({ command: "cat a.md", cwd: "./docs/" });
    expect(before.preparation.canonicalArgs).toEqual({ command: "cat a.md", timeout: 30, cwd: "docs" });
    expect((await prepare({ command: "cat a.md", cwd: "docs" })).preparation.facts).toEqual(before.preparation.facts);
    host.put("/work/docs/a.md", "another");
    expect((await prepare({ command: "cat a.md", cwd: "docs" })).preparation.facts).not.toEqual(before.preparation.facts);
  });

  test.each([
    ["missing", "not_found"],
    ["README.md", "not_a_directory"],
    ["../x", "path_outside_scope"],
    ["/etc", "path_outside_scope"],
    ["link", "path_outside_scope"],
  ])("refuses the folder %s", async (cwd, type) => {
    const { prepare } = await createBench({ rules: allow("ls") });
    const failure = await prepare({ command: "ls", cwd }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect((failure as ToolFailure).toolError.type).toBe(type);
  });

  test("judges paths from the folder that it runs in", async () => {
    const { judge } = await createBench(ruleSets["scoped"] as ShellConfig);
    expect(nameOf(await judge({ command: "cat a.md", cwd: "docs" }))).toBe("allowed");
    expect(nameOf(await judge({ command: "cat ../README.md", cwd: "docs" }))).toBe("blocked");
    expect(nameOf(await judge({ command: "cat ../a.md", cwd: "docs/deep" }))).toBe("allowed");
    expect(nameOf(await judge({ command: "cat a.md" }))).toBe("blocked");
    const read = await createBench(ruleSets["read"] as ShellConfig);
    expect(nameOf(await read.judge({ command: "cat config", cwd: ".git" }))).toBe("ask");
    expect(nameOf(await read.judge({ command: "ls", cwd: ".git" }))).toBe("ask");
  });

  test("runs in the first scope of a worker without a default scope", async () => {
    const scopes = [{ name: "docs", root: "/work/docs", mode: "ro" as const }];
    const { prepare } = await createBench({ rules: allow("cat") }, { scopes });
    expect((await prepare({ command: "cat a.md" })).work.cwd.virtualPath).toBe("docs");
  });

  test("runs in a folder of its own where a worker has no scope", async () => {
    const { prepare, tool, host } = await createBench({ rules: allow("cat") }, { scopes: [] });
    expect((await prepare({ command: "cat a.md" })).work.cwd.scope.root).toMatch(/^\/tmp\/llm-do-commands-/);
    expect(tool.sequential).toBe(true);
    expect(JSON.stringify(tool.input.jsonSchema)).toContain("an empty folder of their own");
    expect(host.snapshot("/tmp")).toEqual({});
  });
});

describe("without isolation", () => {
  const isolation = { type: "none", why: "bubblewrap is not installed" } as const;

  test("asks for what the rules allow, and says why", async () => {
    const { judge, prepare, toolset } = await createBench({ rules: allow("ls") }, { isolation });
    expect(await judge({ command: "ls" })).toMatchObject({
      type: "needs-approval",
      by: "rule",
      why: expect.stringContaining("not isolated"),
    });
    expect(nameOf(await judge({ command: "rm x" }))).toBe("blocked");
    expect(nameOf(await judge({ command: "ls > x" }))).toBe("ask");
    const call = await prepare({ command: "ls" });
    expect(toolset.describeCall?.(call)).toBe("Run (not isolated): ls");
    expect(toolset.preview?.(call)).toMatchObject({ text: expect.stringContaining("bubblewrap is not installed") });
  });

  test("opens nothing more than the rules do, and runs no hooks", async () => {
    const { prepare } = await createBench({ rules: allow("git commit") }, { isolation });
    expect((await prepare({ command: "git commit -m x" })).work).toMatchObject({ opens: [".git"], hooks: false });
  });

  test("follows the rules if the caller of the run accepts it", async () => {
    const { judge, run, requests } = await createBench({ rules: allow("ls") }, { isolation, unisolated: true });
    expect(nameOf(await judge({ command: "ls" }))).toBe("allowed");
    expect(nameOf(await judge({ command: "ls > x" }))).toBe("ask");
    expect(nameOf(await judge({ command: "rm x" }))).toBe("blocked");
    await run({ command: "ls" });
    expect(requests[0]).toMatchObject({ isolationRequired: false });
  });

  test("is required if the judgement depends on it", async () => {
    const walled = await createBench({ rules: allow("ls") });
    await walled.run({ command: "ls" });
    expect(walled.requests[0]).toMatchObject({ isolationRequired: true, network: false, maxOutputBytes: 51_200 });
    const bare = await createBench({ rules: allow("ls") }, { isolation });
    await bare.run({ command: "ls" });
    expect(bare.requests[0]).toMatchObject({ isolationRequired: false });
    expect((await walled.prepare({ command: "ls" })).preparation.facts).not.toEqual(
      (await bare.prepare({ command: "ls" })).preparation.facts,
    );
  });
});

async function shown(
  { toolset, prepare }: Pick<Awaited<ReturnType<typeof createBench>>, "toolset" | "prepare">,
  command: string,
) {
  const preview = toolset.preview?.(await prepare({ command }));
  if (preview?.type !== "text") throw new Error("no text to show");
  return preview;
}

describe("what a person sees", () => {
  test("shows the arguments of one program, or the whole script with its programs", async () => {
    const { prepare, toolset } = await createBench({ rules: allow("git, head") });
    const text = async (command: string) => (await shown({ toolset, prepare }, command)).text;
    expect(await text("git  log 'a b' $'x\\ny'")).toBe(
      "git log 'a b' $'x\\ny'\n\n(in ., 30 s at most; isolated, without network)",
    );
    expect(await text("git log|head -5")).toBe(
      "git log | head -5\n\nPrograms in it:\n  git log\n  head -5\n\n(in ., 30 s at most; isolated, without network)",
    );
    expect(await text("git push")).toContain("may use the protected names .git");
  });

  test("shows a long command to its end, and marks the cut", async () => {
    const { prepare, toolset } = await createBench({ rules: allow("echo") });
    const command = `echo ${"a".repeat(500)}b`;
    const call = await prepare({ command });
    expect(toolset.describeCall?.(call)).toMatch(/^Run: echo a+… \(506 characters in all, shown below\)$/);
    expect((await shown({ toolset, prepare }, command)).text).toContain(command);
    expect(toolset.describeCall?.(await prepare({ command: "echo 'a\nb'" }))).toContain("characters in all, shown below");
    expect(toolset.describeCall?.(await prepare({ command: "echo a", cwd: "src" }))).toBe("Run in src: echo a");
  });
});

describe("results", () => {
  test("hold exit codes, truncation, time-outs and files that were moved aside", async () => {
    const result = { exitCode: 1, stdout: "out", stderr: "err", dropped: { stdout: 5, stderr: 0 }, movedAside: [".git"] };
    const { run } = await createBench({ rules: allow("ls") }, { result });
    expect(await run({ command: "ls" })).toEqual({
      stdout: "out",
      stderr: "err",
      exit_code: 1,
      truncated: true,
      dropped_bytes: { stdout: 5, stderr: 0 },
      moved_aside: [".git"],
    });
    const late = await createBench({ rules: allow("ls") }, { result: { exitCode: -1, timedOut: true, stderr: "x\n" } });
    expect(await late.run({ command: "ls", timeout: 7 })).toMatchObject({
      exit_code: -1,
      timed_out: true,
      stderr: "x\nCommand timed out after 7 seconds.",
    });
    expect(late.requests[0]).toMatchObject({ timeoutMilliseconds: 7000 });
  });

  test("hold hints only on failure", async () => {
    const hint = async (stderr: string, more: { exitCode?: number; networkEnabled?: boolean } = {}) => {
      const { exitCode = 1, networkEnabled = false } = more;
      const { run } = await createBench({ rules: allow("ls") }, { result: { exitCode, stderr }, networkEnabled });
      return (await run({ command: "ls" }))["hint"] ?? "";
    };
    expect(await hint("touch: Read-only file system")).toContain("out/");
    expect(await hint("x: Permission denied")).toContain("can write below");
    expect(await hint("curl: (6) Could not resolve host: x")).toContain("network_enabled");
    expect(await hint("curl: (6) Could not resolve host: x", { networkEnabled: true })).toBe("");
    expect(await hint("Error: listen EAFNOSUPPORT: address family not supported /tmp/x.pipe")).toContain("no Unix sockets");
    expect(await hint("Permission denied", { exitCode: 0 })).toBe("");
    expect(await hint("something else")).toBe("");
  });

  test("open protected names only if they were approved, or written out", async () => {
    const opens = async (command: string, rules: string) => {
      const bench = await createBench(ruleSets[rules] as ShellConfig);
      await bench.run({ command });
      return bench.requests[0]?.unprotected;
    };
    expect(await opens("git log", "git")).toEqual([]);
    expect(await opens("git commit -m x", "git")).toEqual([".git"]);
    expect(await opens("cat .env", "read")).toEqual([".env"]);
    expect(await opens("touch .github/workflows/x.yml", "all")).toEqual(["workflows"]);
    expect(await opens("cat package.json", "read")).toEqual([]);
    expect(await opens("npm install x", "all")).toEqual(["package.json"]);
    expect(await opens("echo x > .npmrc", "echo")).toEqual([".npmrc"]);
    expect(await opens("npm test", "dev")).toEqual([]);
  });

  test("open scopes that ask only if a rule put the command to a person", async () => {
    const open = async (command: string, cwd?: string, rules = "star") => {
      const bench = await createBench(ruleSets[rules] as ShellConfig);
      await bench.run({ command, ...(cwd === undefined ? {} : { cwd }) });
      return bench.requests[0]?.openScopes;
    };
    expect(await open("grep -r secret .")).toEqual(["."]);
    expect(await open("ls", "free")).toEqual(["free"]);
    expect(await open("cat secret/key.txt")).toBeUndefined();
    expect(await open("ls", "secret")).toBeUndefined();
    expect(await open("git status")).toEqual(["."]);
    expect(await open("git commit -am x", undefined, "git")).toEqual(["."]);
    const { judge } = await createBench(ruleSets["star"] as ShellConfig);
    expect((await judge({ command: "ls", cwd: "secret" })).why).toContain("it runs in secret: read_approval of the scope secret");
    expect((await judge({ command: "make", cwd: "secret" })).why).toContain(
      "`make` could write where it runs: write_approval of",
    );
    expect((await judge({ command: "ls", cwd: "secret" })).why).not.toContain("write_approval");
    expect((await judge({ command: "make", cwd: "free" })).why).toContain("allowed");
  });

  test("report failed isolation without a path of the machine", async () => {
    const { commands } = {
      commands: {
        isolation: async () => ({ type: "bubblewrap" as const }),
        which: async () => undefined,
        run: () => Promise.reject(new NotIsolated("/usr/bin/bwrap failed")),
      },
    };
    const { scopes } = await createBench({ rules: [] });
    const config = { rules: allow("ls") };
    const toolset = createShellToolset({ commands });
    const [tool] = toolset.tools(config, { worker: "w", readable: ["."], writable: ["."], networkEnabled: false });
    const runtime = { scopes, signal: new AbortController().signal } as unknown as WorkerRuntime;
    const failure = await Promise.resolve(tool?.execute({ command: "ls", timeout: 30 }, runtime)).catch(
      (error: unknown) => error,
    );
    expect((failure as ToolFailure).toolError).toEqual({
      type: "tool_failed",
      error: "The command was not run: it could not be isolated.",
    });
  });
});

test("runs on this machine, from text to output", async () => {
  const machine = new Machine();
  machine.put("work/a.txt", "two\none\n");
  const { commands, openScopes } = createNodeHost({ workingDirectory: machine.root });
  const scopes = await openScopes([{ name: ".", root: `${machine.root}/work`, mode: "rw" }]);
  try {
    const toolset = createShellToolset({ commands });
    const config = { rules: allow("cat, sort, head, touch") };
    const [tool] = toolset.tools(config, { worker: "w", readable: ["."], writable: ["."], networkEnabled: false });
    const signal = new AbortController().signal;
    const run = async (command: string) => {
      const call = { tool: "shell", args: { command, timeout: 20 }, config };
      const preparation = await toolset.prepare?.(call, {
        scopes,
        signal,
        caller: { name: "w", depth: 0, maxDepth: 1 },
        networkEnabled: false,
      });
      return tool?.execute(call.args, { scopes, signal } as unknown as WorkerRuntime, preparation?.payload);
    };
    expect(await run("cat a.txt | sort |head -1")).toMatchObject({ stdout: "one\n", exit_code: 0, truncated: false });
    expect(await run("cat missing")).toMatchObject({ exit_code: 1, stderr: expect.stringContaining("missing") });
    expect(await run("nosuchprogram")).toMatchObject({ exit_code: 127 });
    expect(await run("touch b.txt")).toMatchObject({ exit_code: 0 });
    expect(Object.keys(machine.snapshot("work")).sort()).toEqual(["work/a.txt", "work/b.txt"]);
  } finally {
    await scopes.close();
    machine.remove();
  }
}, 30_000);
