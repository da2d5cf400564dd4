import { describe, expect, test } from "vitest";
import { NotIsolated } from "../../src/host/commands.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createShellToolset } from "../../src/toolsets/shell/shell.ts";
import { ToolFailure, type WorkerRuntime } from "../../src/toolsets/toolset.ts";
import { Machine } from "./machine.ts";
import { allow } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

describe("the tool", () => {
  test("describes the covered commands, and where they run", async () => {
    const { tool, toolset } = await createBench({ rules: allow("git log, git status") });
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

  test("returns canonical arguments", async () => {
    const { prepare } = await createBench({ rules: allow("cat") });
    const { preparation } = await prepare({ command: "cat a.md", cwd: "./docs/" });
    expect(preparation.canonicalArgs).toEqual({ command: "cat a.md", timeout: 30, cwd: "docs" });
    expect(preparation.facts).toEqual({ request: { type: "argv", argv: ["cat", "a.md"] }, isolation: "bubblewrap" });
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
    const { judge, prepare, toolset } = await createBench({ looks: "allowed", rules: allow("ls") }, { isolation });
    expect(await judge({ command: "ls" })).toMatchObject({
      type: "needs-approval",
      by: "rule",
      why: expect.stringContaining("not isolated"),
    });
    expect(nameOf(await judge({ command: "rm x" }))).toBe("blocked");
    const call = await prepare({ command: "ls" });
    expect(toolset.describeCall?.(call)).toBe("Run (not isolated): ls");
    expect(toolset.preview?.(call)).toMatchObject({ setting: expect.stringContaining("bubblewrap is not installed") });
  });

  test("counts another sandbox as none", async () => {
    const { judge } = await createBench({ rules: allow("ls") }, { isolation: { type: "seatbelt" } });
    expect(nameOf(await judge({ command: "ls" }))).toBe("ask");
  });

  const rules = [
    ...allow("cat, head, grep, ls, sort, echo, timeout"),
    { pattern: "npm test", approval_required: false, unisolated: true },
    { pattern: "make all", approval_required: true, unisolated: true },
    { pattern: "rm", blocked: true },
  ];

  test.each([
    ["cat README.md", "allowed"],
    ["cat ././docs//a.md README.md", "allowed"],
    ["cd docs && cat a.md", "ask"],
    ["cat README.md | sort | head", "allowed"],
    ["npm test", "allowed"],
    ["npm test -- -u", "ask"],
    ["CI=1 npm test", "ask"],
    ["make all", "ask"],
    ["rm README.md", "blocked"],
    ["mv a b", "blocked"],
    ["ls", "ask"],
    ["cat secret/key.txt", "ask"],
    ["cat src/../secret/key.txt", "ask"],
    ["head -n 1 -- secret/../secret/key.txt", "ask"],
    ["cat s*/key.txt", "ask"],
    ["cat */key.txt", "ask"],
    ["grep -r x .", "ask"],
    ["cat .env", "ask"],
    ["cat link", "ask"],
    ["cat ../outside /etc/passwd", "ask"],
    ["cat < README.md", "ask"],
    ["cat README.md > out/x", "ask"],
    ["cat out/notes/a.txt", "ask"],
    ["timeout 5 cat README.md", "ask"],
    ["cat $(echo README.md)", "ask"],
    ["cat README.md &", "ask"],
  ])("lets plain readers run if the caller of the run accepts it: %s", async (command, verdict) => {
    const { judge } = await createBench({ rules }, { isolation, unisolated: true });
    expect(nameOf(await judge({ command }))).toBe(verdict);
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
    const setting = "in ., 30 s at most; isolated; writes nothing; no network";
    expect(await shown({ toolset, prepare }, "git  log 'a b' $'x\\ny'")).toMatchObject({
      text: "git log 'a b' $'x\\ny'",
      setting,
    });
    expect(await shown({ toolset, prepare }, "git log|head -5")).toMatchObject({
      text: "git log | head -5",
      programs: ["git log", "head -5"],
      setting,
    });
  });

  test("shows a long command to its end, and marks the cut", async () => {
    const { prepare, toolset } = await createBench({ rules: allow("echo") });
    const command = `echo ${"a".repeat(500)}b`;
    const call = await prepare({ command });
    expect(toolset.describeCall?.(call)).toMatch(
      /^Run \(writes nothing; no network\): echo a+… \(506 characters in all, shown below\)$/,
    );
    expect((await shown({ toolset, prepare }, command)).text).toContain(command);
    expect(toolset.describeCall?.(await prepare({ command: "echo 'a\nb'" }))).toContain("characters in all, shown below");
    expect(toolset.describeCall?.(await prepare({ command: "echo a", cwd: "src" }))).toBe(
      "Run (writes nothing; no network) in src: echo a",
    );
  });
});

describe("results", () => {
  test("hold exit codes, truncation, time-outs and files that were moved aside", async () => {
    const result = {
      exitCode: 1,
      stdout: "out",
      stderr: "err",
      dropped: { stdout: 5, stderr: 0 },
      movedAside: [".git"],
      locked: ["p"],
    };
    const { run } = await createBench({ rules: allow("ls") }, { result });
    expect(await run({ command: "ls" })).toEqual({
      writes: [],
      stdout: "out",
      stderr: "err",
      exit_code: 1,
      truncated: true,
      dropped_bytes: { stdout: 5, stderr: 0 },
      moved_aside: [".git"],
      not_looked_into: { reason: "no right to list and enter them", folders: ["p"] },
    });
    const late = await createBench({ rules: allow("ls") }, { result: { exitCode: -1, timedOut: true, stderr: "x\n" } });
    expect(await late.run({ command: "ls", timeout: 7 })).toMatchObject({
      exit_code: -1,
      timed_out: true,
      stderr: "x\nCommand timed out after 7 seconds.",
    });
    expect(late.requests[0]).toMatchObject({ timeoutMilliseconds: 7000 });
  });

  test("hold hints where a right seems to have been missing", async () => {
    const hint = async (stderr: string, network = false) => {
      const { run } = await createBench({ rules: allow("ls") }, { result: { stderr }, networkEnabled: true });
      return (await run({ command: "ls", ...(network ? { network } : {}) }))["hint"] ?? "";
    };
    expect(await hint("touch: Read-only file system")).toContain("out/");
    expect(await hint("x: Permission denied")).toContain("This call could write nowhere but in /tmp");
    expect(await hint("curl: (6) Could not resolve host: x")).toContain("`network: true`");
    expect(await hint("curl: (6) Could not resolve host: x", true)).toBe("");
    expect(await hint("Error: listen EAFNOSUPPORT: address family not supported /tmp/x.pipe")).toContain("no Unix sockets");
    expect(await hint("something else")).toBe("");
    const stopped = await createBench({ rules: allow("ls") }, { result: { movedAside: [".git/rebase-merge"] } });
    expect((await stopped.run({ command: "ls" }))["hint"]).toContain('`opens: [".git", ".git/config"]`');
  });

  test("are of what was asked for alone", async () => {
    const bench = await createBench({ rules: allow("git") }, { networkEnabled: true });
    await bench.run({ command: "git commit -m x", writes: ["."], opens: [".git", ".git/hooks"], network: true });
    expect(bench.requests[0]).toMatchObject({ unprotected: [".git", ".git/hooks"], hooks: true, network: true });
    expect(bench.requests[0]?.rights?.writes.map(({ virtualPath }) => virtualPath)).toEqual(["."]);
    await bench.run({ command: "git status" });
    expect(bench.requests[1]).toMatchObject({ rights: { writes: [], reads: [] }, unprotected: [], hooks: false, network: false });
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
    const run = async (command: string, effects: object = {}) => {
      const call = { tool: "shell", args: { command, timeout: 20, ...effects }, config };
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
    expect(await run("touch b.txt", { writes: ["."] })).toMatchObject({ exit_code: 0 });
    expect(Object.keys(machine.snapshot("work")).sort()).toEqual(["work/a.txt", "work/b.txt"]);
  } finally {
    await scopes.close();
    machine.remove();
  }
}, 30_000);
