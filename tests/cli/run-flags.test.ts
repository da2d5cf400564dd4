import { spawn } from "node:child_process";
import { chmod, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { bin, type CliOptions, cleanEnvironment, copyExample, runCli, script, scripted, watch, writeProgram } from "./run-cli.ts";

const fields = `
  input?: string
  title?: string
  count?: integer
  share?: number
  draft?: boolean
  tone?(enum): [calm, loud]
  tags?(array): string
  sizes?(array): integer
  author?(object):
    name: string
  deck?: attachment`;

/** A worker that answers with the input that it was given. */
const echo = "echo.ts";
const echoScript = `export default ({ messages }) => ({ text: messages.at(-1).parts.map((part) => part.text ?? part.name).join("|") });\n`;

function program(more: Readonly<Record<string, string>> = {}, input = fields): Promise<string> {
  return writeProgram({
    "main.worker": `---\ndescription: Echo.\ninput:${input}\n---\nSay what you were given.\n`,
    [echo]: echoScript,
    ...more,
  });
}

async function run(args: readonly string[], options: CliOptions) {
  return runCli([".", "--model", `scripted:${echo}`, "--no-journal", "-q", ...args], options);
}

async function inputOf(args: readonly string[], options: CliOptions): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run(args, options);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.startsWith("{") ? JSON.parse(stdout) : stdout;
}

async function refused(args: readonly string[], options: CliOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args, options);
  expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 2, stdout: "" });
  return stderr;
}

describe("-i key=value", () => {
  it("is typed by the entry's schema", async () => {
    const cwd = await program();
    const flags = ["title=5", "count=3", "share=0.5", "draft=true", "tone=loud", 'author={"name":"Ada"}', "tags=a=b", "tags=[c"];
    const sizes = ["sizes=[1,2]"];
    expect(
      await inputOf(
        [...flags, ...sizes].flatMap((flag) => ["-i", flag]),
        { cwd },
      ),
    ).toEqual({
      title: "5",
      count: 3,
      share: 0.5,
      draft: true,
      tone: "loud",
      author: { name: "Ada" },
      tags: ["a=b", "[c"],
      sizes: [1, 2],
    });
  });

  it("reads @FILE and @-; @@ is a text that begins with @; an empty text is one", async () => {
    const cwd = await program({ "title.txt": "two\nlines\n", "count.txt": "3\n", "author.json": '{ "name": "Ada" }' });
    const flags = ["-i", "title=@title.txt", "-i", "count=@count.txt", "-i", "author=@author.json", "-i", "tags=@@handle"];
    expect(await inputOf(flags, { cwd })).toEqual({
      title: "two\nlines\n",
      count: 3,
      author: { name: "Ada" },
      tags: ["@handle"],
    });
    expect(await inputOf(["-i", "title=@-", "-i", "count=1"], { cwd, input: "from stdin" })).toEqual({
      title: "from stdin",
      count: 1,
    });
    expect(await inputOf(["-i", "title=", "-i", "count=1"], { cwd })).toEqual({ count: 1 });
  });

  it.each([
    [["-i", "count=many"], "llm-do: -i count=many: this must be a whole number\n"],
    [
      ["-i", "count=many", "-i", "draft=perhaps"],
      "llm-do: -i count=many: this must be a whole number\n-i draft=perhaps: this must be true or false\n",
    ],
    [["-i", "title=@none.txt"], "-i title=@none.txt: there is no file none.txt; write @FILE, @- for stdin, or @@"],
    [["-i", "title=@-", "-i", "tags=@-"], "stdin can be read once, and -i title=@- and -i tags=@- read it\n"],
    [["-", "-i", "title=@-"], "stdin can be read once, and -i title=@- and the prompt `-` read it\n"],
    [["prompt", "-i", "input=x"], "the prompt fills the field input, and -i input=x gives it too; leave one of them out\n"],
    [["-a", "a.pdf", "-i", "deck=b.pdf"], "--attachment fills the field deck, and -i deck=b.pdf gives it too"],
  ])("%j is a mistake that names its flag", async (args, text) => {
    expect(await refused(args, { cwd: await program({ "a.pdf": "%PDF-" }), input: "x" })).toContain(text);
  });

  it("goes with a prompt for another field, from stdin too, which is left alone where its field is given", async () => {
    const cwd = await program();
    expect(await inputOf(["look", "-i", "count=1"], { cwd })).toEqual({ input: "look", count: 1 });
    expect(await inputOf(["-i", "count=1"], { cwd, input: "piped" })).toEqual({ input: "piped", count: 1 });
    expect(await inputOf(["-i", "input=x", "-i", "count=1"], { cwd, input: "piped" })).toEqual({ input: "x", count: 1 });
  });

  it("fits the input of code, and waits for trust", async () => {
    const cwd = await program({
      "tools.ts": `import { tool } from "llm-do";
import { z } from "zod";
export const start = tool({ input: z.object({ count: z.number(), name: z.string() }), run: (input) => input });
`,
    });
    const args = ["--entry", "tools.ts:start", "-i", "count=2", "-i", "name=3"];
    expect(await refused(args, { cwd })).toContain("is not trusted, and its program");
    expect(await inputOf([...args, "--trust"], { cwd })).toEqual({ count: 2, name: "3" });
  });

  it("leaves to the schema what only it can tell", async () => {
    const cwd = await program({}, "\n  title: string");
    expect(await refused(["-i", "title=a", "-i", "titel=b"], { cwd })).toContain("has no field titel");
    expect(await refused(["--input-json", "{}"], { cwd })).toContain("title");
  });
});

describe("--input-json", () => {
  it("takes JSON, @FILE and -, and -i has the last word on a field", async () => {
    const cwd = await program({ "in.json": '{ "count": 1, "title": "a" }' });
    expect(await inputOf(["--input-json", '{"count":1,"draft":false}'], { cwd })).toEqual({ count: 1, draft: false });
    expect(await inputOf(["--input-json", "@in.json", "-i", "count=2"], { cwd })).toEqual({ count: 2, title: "a" });
    expect(await inputOf(["--input-json", "-"], { cwd, input: '{"count":3}' })).toEqual({ count: 3 });
    expect(await inputOf(["--input-json", "@in.json"], { cwd, input: "not the prompt" })).toEqual({ count: 1, title: "a" });
    expect(await inputOf(["look", "--input-json", "@in.json"], { cwd })).toEqual({ count: 1, title: "a", input: "look" });
  });

  it.each([
    [["--input-json", "{"], "--input-json {: this must be JSON, @FILE or -; "],
    [
      ["--input-json", "[1]"],
      "--input-json [1]: this must be a JSON object, with the fields of the entry's input, and it is a list\n",
    ],
    [["--input-json", "null"], "and it is null\n"],
    [["--input-json", "@none.json"], "--input-json @none.json: there is no file none.json"],
    [["x", "--input-json", '{"input":"y"}'], "the prompt fills the field input, and --input-json gives it too"],
    [["-", "--input-json", "-"], "stdin can be read once, and --input-json - and the prompt `-` read it\n"],
    [["--input-json", '{"count":"x"}'], "the input does not fit `main`: count: must be integer"],
  ])("%j is a mistake that names its flag", async (args, text) => {
    expect(await refused(args, { cwd: await program(), input: "" })).toContain(text);
  });
});

describe("-o FILE", () => {
  it("gets the result, whole; stdout stays empty", async () => {
    const cwd = await program({ "out.txt": "old" });
    await chmod(join(cwd, "out.txt"), 0o640);
    expect(await run(["hello", "-o", "out.txt"], { cwd })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("hello\n");
    expect((await stat(join(cwd, "out.txt"))).mode & 0o777).toBe(0o640);
    await run(["hello", "--json", "-o", "out.json"], { cwd });
    expect(JSON.parse(await readFile(join(cwd, "out.json"), "utf8"))).toMatchObject({ v: 1, output: "hello", exitCode: 0 });
    expect((await run(["hello", "-o", "-"], { cwd })).stdout).toBe("hello\n");
    expect((await readdir(cwd)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("leaves the file as it was where the run fails; with --json the failure is the result", async () => {
    const cwd = await program({
      "out.txt": "old",
      "fails.yaml": script({ main: [{ error: { code: "bad_request", message: "no" } }] }),
    });
    const fails = [".", "x", "--model", "scripted:fails.yaml", "--no-journal"];
    expect((await runCli([...fails, "-o", "out.txt"], { cwd })).exitCode).toBe(7);
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("old");
    expect(await runCli([...fails, "--json", "-o", "out.txt"], { cwd })).toMatchObject({ exitCode: 7, stdout: "" });
    expect(JSON.parse(await readFile(join(cwd, "out.txt"), "utf8"))).toMatchObject({ error: { code: "provider" }, exitCode: 7 });
  });

  it("writes through links and into devices, and replaces neither", async () => {
    const cwd = await program({ "real/out.txt": "old" });
    await symlink("real/out.txt", join(cwd, "link.txt"));
    await run(["hello", "-o", "link.txt"], { cwd });
    expect(await readFile(join(cwd, "real/out.txt"), "utf8")).toBe("hello\n");
    expect((await run(["hello", "-o", "/dev/null"], { cwd })).exitCode).toBe(0);
    expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
  });

  it("is refused before the run where it cannot be a file", async () => {
    const cwd = await program();
    expect(await refused(["x", "-o", "none/out.txt"], { cwd })).toContain("-o none/out.txt: there is no folder ");
    expect(await refused(["x", "-o", "none/"], { cwd })).toContain("-o none/: there is no such folder\n");
  });

  it("is a folder, too: the result goes there, and the files that the provider made", async () => {
    const main = "---\nserver_side_tools: [{ tool_type: code_execution }]\n---\nDraw.\n";
    const made = "reply: { serverCalls: [{ tool: code_execution }], files: [{ name: chart.svg, text: <svg/> }], text: Drawn. }";
    const cwd = await program({ "main.worker": main, "draws.yaml": `- ${made}\n`, "out/old.txt": "" });
    const args = [".", "x", "--model", "scripted:draws.yaml", "--approve-all", "-o", "out"];
    const { exitCode, stdout, stderr } = await runCli(args, { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(await readFile(join(cwd, "out/result.txt"), "utf8")).toBe("Drawn.\n");
    expect(await readFile(join(cwd, "out/artifacts/chart.svg"), "utf8")).toBe("<svg/>");
    const place = join(cwd, "out/artifacts/chart.svg");
    expect(stderr).toContain(`llm-do: made chart.svg (application/octet-stream, 6 bytes): ${place}\n`);
    await writeFile(place, "mine");
    expect((await runCli(args, { cwd })).stderr).toContain(join(cwd, "out/artifacts/chart-2.svg"));
    expect(await readFile(place, "utf8")).toBe("mine");
    const json = await runCli([...args.slice(0, 5), "--json"], { cwd });
    const { artifacts, runId } = JSON.parse(json.stdout);
    const path = join(cliRuns(cwd), runId, "artifacts/chart.svg");
    expect(artifacts).toMatchObject([{ name: "chart.svg", bytes: 6, callPath: "main", path }]);
    expect(await readFile(path, "utf8")).toBe("<svg/>");
  });

  it("says at the end which tools of the provider nobody could approve", async () => {
    const main = "---\nserver_side_tools: [{ tool_type: web_search }]\n---\nSearch.\n";
    const cwd = await program({ "main.worker": main, "says.yaml": "- reply: nothing found\n" });
    const { exitCode, stdout, stderr } = await runCli([".", "x", "--model", "scripted:says.yaml", "--headless"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "nothing found\n" });
    expect(stderr).toMatch(/1 call needed approval, .*\n {2}main: Enable for the worker main, on scripted:.*: web_search\n/);
    expect(stderr).toContain("to allow this, pass --approve-all, or:\n  --approve 'main/server:web_search'\n");
    const allowed = ["--headless", "--approve", "main/server:web_search"];
    expect((await runCli([".", "x", "--model", "scripted:says.yaml", ...allowed], { cwd })).exitCode).toBe(0);
  });

  it("loses nothing where it cannot be written", async () => {
    const removes = `import { rmSync } from "node:fs";\nexport default () => (rmSync("out", { recursive: true }), { text: "kept" });\n`;
    const cwd = await program({ "removes.ts": removes, "out/old.txt": "" });
    const args = [".", "x", "--model", "scripted:removes.ts", "--no-journal", "-o", "out/new.txt"];
    const { exitCode, stdout, stderr } = await runCli(args, { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "kept\n" });
    expect(stderr).toContain("llm-do: -o out/new.txt: the result could not be written there, and is on stdout: ");
  });
});

describe("--events", () => {
  const linesOf = (text: string) => text.trimEnd().split("\n").map((line) => JSON.parse(line)); // biome-ignore format: short

  it("tells each event as a line of JSON on stderr; what follows a blank is the next argument", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout, stderr } = await runCli(["--events", ".", "--model", scripted, "--reject-all"], { cwd });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Reports written: 0.");
    const events = linesOf(stderr);
    expect(events[0]).toMatchObject({ v: 1, type: "run-start", callPath: "main", depth: 0 });
    expect(events.at(-1)).toMatchObject({ type: "run-end", stopReason: "done" });
    for (const event of events)
      expect(Object.keys(event)).toEqual(expect.arrayContaining(["v", "type", "runId", "callPath", "depth", "time"]));
    expect(events.filter(({ type }) => type === "approval-decision")).toHaveLength(3);
  });

  it("writes them to a file for its owner alone, in place of what it held", async () => {
    const cwd = await program();
    const events = ["--events=events.jsonl"];
    expect(await run(["first", ...events], { cwd })).toEqual({ exitCode: 0, stdout: "first\n", stderr: "" });
    await run(["a\u009b\u202e\u{e0041}b", ...events], { cwd });
    const text = await readFile(join(cwd, "events.jsonl"), "utf8");
    expect(text).not.toMatch(/first|[\u0080-\u009f\u202e\u{e0041}]/u);
    expect(linesOf(text).find(({ type }) => type === "turn-end").text).toBe("a\u009b\u202e\u{e0041}b");
    expect((await stat(join(cwd, "events.jsonl"))).mode & 0o777).toBe(0o600);
  });

  it("refuses a file that cannot be written, before the run", async () => {
    const cwd = await program();
    expect(await refused(["x", "--events=none/e.jsonl"], { cwd })).toContain("--events=none/e.jsonl: this must be a file");
  });
});

describe("--dry-run", () => {
  it("names tools as a model gets them: cut, with a hash, where they are too long", async () => {
    const main = `---\ntoolsets: { filesystem: { _prefix: ${"p".repeat(60)} } }\n---\nHelp.\n`;
    const cwd = await program({ "main.worker": main });
    const { stdout } = await runCli([".", "x", "--model", `scripted:${echo}`, "--dry-run", "--json"], { cwd });
    const names = JSON.parse(stdout).request.tools.map(({ name }: { name: string }) => name);
    expect(names).toHaveLength(6);
    for (const name of names) expect(name).toMatch(/^p{55}_[0-9a-f]{8}$/);
  });

  const dry = (args: readonly string[], cwd: string) => runCli([".", "--dry-run", ...args], { cwd });

  it("shows the first request and the ceiling; calls no model and records nothing", async () => {
    const cwd = await copyExample();
    await writeFile(join(cwd, "throws.ts"), "throw new Error('the model was loaded');\n");
    const { exitCode, stdout, stderr } = await dry(["look at teams", "--model", "scripted:throws.ts"], cwd);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(
      "Would be sent to scripted:throws.ts (by --model), for main:\nsystem 1 of 1:\n  | You run the evaluation",
    );
    expect(stdout).toContain("user 1 of 1:\n  | look at teams\nattachments: none\ntools: read_file, write_file,");
    expect(stdout).toContain("Ceiling of main, with all that it calls");
    expect(await readdir(cwd)).not.toContain(".llm-do");
    expect(await readdir(cwd)).not.toContain("evaluations");
  });

  it("names attachments, without their content, and says settings and schemas", async () => {
    const cwd = await copyExample();
    const flags = ["--entry", "pitch_evaluator", "-a", "input/parcelmoth.pdf", "--set", "model_settings.temperature=0.5"];
    const { stdout } = await dry([...flags, "--set", 'output={"total":"integer"}', "--model", scripted, "-i", "focus=team"], cwd);
    expect(stdout).toMatch(/attachments: parcelmoth\.pdf \(application\/pdf, [\d,]+ bytes\)\ntools: none\n/);
    expect(stdout).toContain('settings: {"temperature":0.5}\noutput, by this schema:\n');
    expect(stdout).not.toContain("JVBERi");
    const json = JSON.parse((await dry([...flags, "--model", scripted, "-i", "focus=team", "--json"], cwd)).stdout);
    expect(json).toMatchObject({
      v: 1,
      dryRun: true,
      entry: "pitch_evaluator",
      input: { focus: "team", attachments: ["parcelmoth.pdf"] },
      request: { model: scripted, modelSource: "--model", attachments: [{ name: "parcelmoth.pdf" }], tools: [] },
      ceiling: { workers: ["pitch_evaluator"] },
    });
  });

  it("is the request that is then sent", async () => {
    const cwd = await copyExample();
    const args = ["look at teams", "--model", scripted];
    const { request } = JSON.parse((await dry([...args, "--json"], cwd)).stdout);
    await runCli([".", ...args, "--reject-all", "-q"], { cwd });
    const [run = ""] = await readdir(cliRuns(cwd));
    const journal = await readFile(join(cliRuns(cwd), run, "journal.jsonl"), "utf8");
    const [sent] = journal
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ type, kind }) => type === "intent" && kind === "model");
    expect({ system: request.system, tools: request.tools }).toEqual({ system: sent.detail.system, tools: sent.detail.tools });
    expect(sent.detail.messages[0].parts).toEqual(request.user.map((text: string) => ({ type: "text", text })));
  });

  it("fails as the run would", async () => {
    const cwd = await copyExample();
    expect((await dry([], cwd)).stderr).toContain("error[model-missing]");
    const wrong = await dry(["--entry", "pitch_evaluator", "--model", scripted], cwd);
    expect(wrong).toMatchObject({ exitCode: 2, stdout: "" });
    expect(wrong.stderr).toContain("attachments");
    const many = [
      "--entry",
      "pitch_evaluator",
      "--model",
      scripted,
      "-a",
      "input/parcelmoth.pdf",
      "-a",
      "input/tidewell-sensors.pdf",
    ];
    expect((await dry(many, cwd)).stderr).toContain("at most 1 are taken");
  });

  it("shows no secret of the environment", async () => {
    const cwd = await program();
    const env = { SERVICE_API_KEY: "hunter2hunter2" };
    const args = [".", "the key is hunter2hunter2", "--dry-run", "--model", `scripted:${echo}`];
    const { stdout } = await runCli(args, { cwd, env });
    expect(stdout).toContain("the key is ⟦secret:SERVICE_API_KEY⟧");
  });
});

describe("what is said over the files", () => {
  it.each([
    [["--set", "limits.turn=3"], "did you mean `turns`?"],
    [["--set", "nobody.model=x:y"], " --> --set nobody.model=x:y:1:1\n"],
    [["--set", "limits"], " --> --set limits:1:"],
    [["--model-for", "x*"], " --> --model-for x*:1:1\n"],
    [["--model-for", "x*=anthropic:a"], "matches no worker that the entry reaches"],
    [["--limit", "turns=0"], "--limit: `limits.turns` must be a number, 1 or more"],
    [["--limit", "usd=much"], "It must be name=number, with one of depth, turns, tool_calls, tokens, usd, seconds, parallel."],
  ])("%j is a mistake that points at its flag", async (args, text) => {
    expect(await refused(["x", ...args], { cwd: await program() })).toContain(text);
  });

  it("runs exactly the files that are listed", async () => {
    const cwd = await copyExample();
    const files = ["main.worker", "pitch_evaluator.worker"];
    const all = await runCli([...files, "--model", scripted, "--reject-all", "-q", "--no-journal"], { cwd });
    expect(all).toMatchObject({ exitCode: 0, stderr: "" });
    const one = await runCli(["main.worker", join(cwd, "main.worker"), "--model", scripted], { cwd });
    expect(one.stderr).toContain("pitch_evaluator");
  });

  it("a prompt after -- stays one", async () => {
    const cwd = await program();
    const args = ["main.worker", echo, "--model", `scripted:${echo}`, "--no-journal", "-q", "--trust", "--", "--events", "-i"];
    expect(await runCli(args, { cwd })).toEqual({ exitCode: 0, stdout: "--events -i\n", stderr: "" });
  });
});

it("-i @- says that it waits, and a terminal is no file", async () => {
  const cwd = await program();
  const args = [bin, ".", "-i", "title=@-", "-i", "count=1", "--model", `scripted:${echo}`, "--no-journal"];
  const child = spawn(process.execPath, args, { cwd, env: cleanEnvironment(cwd), stdio: "pipe" });
  const running = watch(child);
  await running.stderrHolds("llm-do: reading -i title=@- from stdin; where there is none, add < /dev/null\n");
  child.stdin.end("x");
  expect(await running.result).toMatchObject({ exitCode: 0, stdout: '{"count":1,"title":"x"}\n' });
});

describe("debug: true in a worker", () => {
  it("tells its calls without any flag, and nothing with -q", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ndebug: true\n---\nBe kind.\n",
      "model.yaml": script({ main: ["hello"] }),
    });
    const { stdout, stderr } = await runCli([".", "go", "--no-journal"], { cwd });
    expect(stdout).toBe("hello\n");
    expect(stderr).toContain("main starts on scripted:model.yaml (`model` of main.worker)\n");
    expect(stderr).toContain("  instructions: Be kind.\n  prompt: go\nmain\n  answer of turn 1: hello\nmain ends: done");
    expect(await runCli([".", "go", "--no-journal", "-q"], { cwd })).toEqual({ exitCode: 0, stdout: "hello\n", stderr: "" });
  });
});
