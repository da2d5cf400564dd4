import { copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliOptions, copyExample, runCli, script, scripted, temporaryFolder, writeProgram } from "./run-cli.ts";

const approve = ["--model", scripted, "--approve-all", "-q"];

/** Returns the stderr of a command that must not run anything. */
async function refused(args: readonly string[], options: CliOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(args, options);
  expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 2, stdout: "" });
  return stderr;
}

describe("mistakes on the command line end with 2", () => {
  it("prints help on stderr where nothing is said", async () => {
    const stderr = await refused([], { cwd: await temporaryFolder() });
    expect(stderr).toContain("Usage: llm-do [run] [options] <target...> [prompt]");
    expect(stderr).toContain("  4    suspended, and calls wait for an answer (--hold); or something needed");
  });
});

describe("input that is not there", () => {
  it("is told of with how to give it; where some was given, the field alone is named", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input: string, count: integer }\n---\nGo.\n",
      "model.yaml": script({ main: ["done"] }),
    });
    const nothing = await refused(["."], { cwd });
    expect(nothing).toContain('= note: a prompt follows the program (llm-do . "what to do"), and -i key=value gives a field\n');
    const some = await refused([".", "go"], { cwd });
    expect(some).toContain("count: is missing");
    expect(some).not.toContain("a prompt follows");
  });
});

describe("input that a prompt cannot give", () => {
  it("is told of with the fields that are required", async () => {
    const cwd = await writeProgram({
      "main.worker":
        "---\nmodel: scripted:model.yaml\ninput: { company: string, level(enum): [a, b], count?: integer }\n---\nGo.\n",
      "model.yaml": script({ main: ["done"] }),
    });
    const stderr = await refused(["."], { cwd });
    expect(stderr).toContain("  = note: -i gives a field: llm-do . -i company=… -i level=…\n");
    expect(stderr).not.toContain("a prompt follows");
  });
});

describe("a manifest under another name", () => {
  const files = {
    "main.worker": "---\nmodel: scripted:model.yaml\n---\nGo.\n",
    "model.yaml": script({ main: ["done"] }),
  };

  it("is an error", async () => {
    const cwd = await writeProgram({ ...files, "llm-do.yml": "approval: { mode: reject_all }\n" });
    expect(await refused([".", "go"], { cwd })).toContain("error[manifest-name]: `llm-do.yml` is not read");
  });
});

describe("rules that match no call", () => {
  const files = {
    "main.worker": "---\nsandbox: { paths: { notes: { root: ., mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
    "model.yaml": script({ main: [{ calls: [{ tool: "write_file", args: { path: "notes/a.md", content: "hi" } }] }, "done"] }),
  };

  it.each(["wirte_file", "mian/write_file", "write_file(a.md)", "write_file(pth=notes/*)"])(
    "%s: a run warns of it, in the manifest or a flag",
    async (rule) => {
      const args = [".", "go", "--model", "scripted:model.yaml", "--approve-all"];
      const flag = await runCli([...args, "--deny", rule], { cwd: await writeProgram(files) });
      const manifest = `approval: { rules: [{ effect: block, rule: "${rule}" }] }\n`;
      const file = await runCli(args, { cwd: await writeProgram({ ...files, "llm-do.yaml": manifest }) });
      for (const { exitCode, stdout, stderr } of [flag, file]) {
        expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
        expect(stderr).toContain("warning[approval-rule-unused]");
        expect(stderr).toContain("so the rule does nothing");
      }
      expect(file.stderr).toContain(" --> llm-do.yaml:1:44\n");
    },
  );
});

describe("scripts that cannot be played end with 2", () => {
  it.each([
    ["scripted:none.yaml", "there is no script `none.yaml`"],
    ["scripted:main.txt", "a script is a .ts, .js, .mjs, .yaml, .yml or .json file"],
    ["scripted:broken.yaml", "broken.yaml"],
  ])("%s", async (model, text) => {
    const cwd = await writeProgram({ "main.worker": "---\n---\nGo.\n", "main.txt": "", "broken.yaml": "- calls: [\n" });
    expect(await refused([".", "go", "--model", model], { cwd })).toContain(text);
  });
});

describe("mistakes about models", () => {
  it("lists the places where a model can be set", async () => {
    const stderr = await refused(["."], { cwd: await copyExample() });
    expect(stderr).toContain("error[model-missing]: no model for the worker `main`\n --> main.worker:1:1\n");
    for (const place of ["`model` in the worker", "`--model`", "`model` in llm-do.yaml", "`LLM_DO_MODEL`"])
      expect(stderr).toContain(place);
  });

  it("names the variable of a key that is missing, and ends with 7", async () => {
    const { exitCode, stdout, stderr } = await runCli([".", "--model", "anthropic:claude-sonnet-4-5"], {
      cwd: await copyExample(),
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
    expect(stderr).toContain("anthropic:claude-sonnet-4-5 needs a key. Set ANTHROPIC_API_KEY");
  });

  it("ends with 7 where the provider fails, and with stacks at --debug", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\n---\nGo.\n",
      "model.yaml": script({ main: [{ error: { code: "bad_request", message: "no such model" } }] }),
    });
    const plain = await runCli([".", "go", "-q"], { cwd });
    expect(plain).toMatchObject({ exitCode: 7, stdout: "" });
    expect(plain.stderr).toMatch(/^llm-do: no such model\nllm-do: `llm-do resume \S+` goes on with it\n$/);
    for (const [flags, env] of [[["--debug"], {}] as const, [[], { LLM_DO_DEBUG: "1" }] as const]) {
      const { stderr } = await runCli([".", "go", ...flags], { cwd, env });
      expect(stderr).toMatch(/RunError: no such model\ncaused by:\nModelError: no such model\n {4}at /);
      expect(stderr).toContain("main starts on scripted:model.yaml");
      expect(stderr).toContain("  instructions: Go.\n  prompt: go\n");
    }
  });
});

describe("what a run ends with", () => {
  const files = {
    "main.worker":
      "---\nmodel: scripted:model.yaml\ninput: { to: string, input: string }\ntoolsets: { bump: {} }\n---\nWrite to {{ to }}.\n",
    "model.yaml": "- reply: { calls: [{ tool: bump, args: {} }] }\n- reply: done\n",
    "tools.ts": `import { tool } from "llm-do";
export const bump = tool({ input: { type: "object" }, approval: "pre-approved", run: () => { throw new Error("no version"); } });
`,
  };
  const flags = ["--trust", "-i", "to=Ada"];

  it("names the tool that failed where the model went on", async () => {
    const cwd = await writeProgram(files);
    const ran = await runCli([".", "go", ...flags], { cwd });
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: "done\n",
      stderr: "llm-do: main > bump#0 failed (tool_failed): no version\n",
    });
    expect((await runCli([".", "go", ...flags, "-q"], { cwd })).stderr).toBe("");
  });

  it("has a line for each refused call, which `runs show` has whole", async () => {
    const worker =
      "---\nmodel: scripted:model.yaml\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nGo.\n";
    const calls =
      "{ tool: write_file, args: { path: ou/a.md, content: a } }, { tool: write_file, args: { path: out/a.md, contents: a } }";
    const cwd = await writeProgram({ "main.worker": worker, "model.yaml": `- reply: { calls: [${calls}] }\n- reply: done\n` });
    const { exitCode, stderr } = await runCli([".", "go", "--headless"], { cwd });
    const outside =
      "main > write_file#0 failed (path_outside_scope): A path must begin with the name of a scope. Readable: out/. Writable: out/.";
    const lines = stderr.split("\n");
    expect({ exitCode, lines: lines.toSorted() }).toEqual({
      exitCode: 0,
      lines: [
        "",
        "llm-do: 2 calls failed",
        `llm-do: ${outside}`,
        expect.stringMatching(/^llm-do: main > write_file#1 failed \(invalid_arguments\): .*contents/),
      ],
    });
    const shown = await runCli(["runs", "show", "last"], { cwd });
    expect(shown.stdout.replace(/\n {6}/g, " ")).toContain(`  ${outside}\n`);
  });

  it("shows how the missing field is given, and no hint on trust that was given", async () => {
    const cwd = await writeProgram(files);
    const ran = await runCli([".", "go", "--trust"], { cwd });
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("to: is missing\n  = note: -i gives a field: -i to=…\n"),
    });
    const modelless = { ...files, "main.worker": files["main.worker"].replace(/^model.*\n/m, "") };
    const unnamed = await runCli([".", "go", ...flags], { cwd: await writeProgram(modelless) });
    expect(unnamed.stderr).toContain("error[model-missing]");
    expect(unnamed.stderr).not.toContain("trusted");
  });

  it("names the place of a script that is not there", async () => {
    const cwd = await writeProgram({ ...files, "main.worker": files["main.worker"].replace(/^model.*\n/m, "") });
    const { stderr } = await runCli([".", "go", ...flags, "--model", "scripted:out/model.yaml"], { cwd });
    expect(stderr).toContain(
      `= note: it is looked for at ${cwd}/out/model.yaml: paths of flags are relative to the working directory\n`,
    );
  });
});

describe("a script that does not expect a request", () => {
  it("says that the instructions hold the text that a message was to hold", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ninput: { changes: string }\n---\nRead {{ changes }}.\n",
      "model.yaml": "- expect: { user: removed }\n  reply: never\n",
    });
    const { stderr } = await runCli([".", "-i", "changes=- removed it", "-v"], { cwd });
    expect(stderr).toMatch(/^run failed: .* a request that it does not expect\.$/m);
    expect(stderr).toContain('a user message with "removed"; the instructions have it, so expect it under `system`');
  });

  it("is a mistake in the script, and ends with 2", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\n---\nGo.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "none", args: {} }] }] }),
    });
    const { exitCode, stderr } = await runCli([".", "go"], { cwd });
    expect(stderr).toContain("expected: the tool none among those offered, because the script calls it\n");
    expect(exitCode).toBe(2);
  });
});

describe("mistakes in a program end with 2, with their place", () => {
  it("a mistyped key", async () => {
    const cwd = await copyExample();
    const path = join(cwd, "main.worker");
    const text = (await readFile(path, "utf8")).replace("toolsets:", "toolset:");
    const line = text.slice(0, text.indexOf("toolset:")).split("\n").length;
    await writeFile(path, text);
    const stderr = await refused([".", ...approve], { cwd });
    expect(stderr).toContain(`--> main.worker:${line}:1\n`);
    expect(stderr).toContain("did you mean `toolsets`?");
    const check = await refused(["check"], { cwd });
    expect(check).toContain(`--> main.worker:${line}:1\n`);
    expect(check).toMatch(/\nllm-do: \.: 1 error, .*\n$/);
  });

  it("an unknown toolset, beside all the other mistakes, and as JSON", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesytem: {} }\nlimits: { turns: none }\n---\nGo.\n",
      "model.yaml": script({ main: ["done"] }),
    });
    const stderr = await refused([".", "go"], { cwd });
    expect(stderr).toContain("there is no toolset, worker or tool `filesytem`");
    expect(stderr).toContain("did you mean `filesystem`?");
    expect(stderr).toContain("--> main.worker:4:");
    const { exitCode, stdout } = await runCli([".", "go", "--json"], { cwd });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ v: 1, runId: null, output: null, stopReason: "failed", denied: [], exitCode });
    expect(result.error.code).toBe("configuration");
    expect(result.error.diagnostics.length).toBe(2);
  });

  it("a file where a folder is declared, and a folder that is missing", async () => {
    const cwd = await copyExample();
    await writeFile(join(cwd, "evaluations"), "");
    expect(await refused([".", ...approve], { cwd })).toContain(
      "the root `./evaluations` of the scope `reports` is not a folder",
    );
  });
});

describe("decks that cannot be evaluated", () => {
  it("are told to the model; the others are evaluated", async () => {
    const cwd = await copyExample();
    const input = join(cwd, "input");
    await writeFile(join(input, "huge.pdf"), Buffer.alloc(5_000_001, "%PDF-"));
    await mkdir(join(cwd, "../outside"));
    await copyFile(join(input, "parcelmoth.pdf"), join(cwd, "../outside/secret.pdf"));
    await symlink("../../outside/secret.pdf", join(input, "link.pdf"));
    const { exitCode, stdout } = await runCli([".", ...approve], { cwd });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\| huge\.pdf \| {2}\| {2}\| {2}\| not evaluated: .*5,?000,?000/);
    const link = stdout.split("\n").find((line) => line.startsWith("| link.pdf"));
    if (link !== undefined) expect(link).toContain("not evaluated");
    expect(stdout).toContain("Reports written: 3.");
    expect(stdout).not.toContain(cwd);
    expect(stdout).not.toContain("outside/secret");
  });
});
