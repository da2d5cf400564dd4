import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "./run-cli.ts";

let root: string;
let cwd: string;
let file: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "llm-do-config-"));
  cwd = join(root, "work");
  await mkdir(cwd);
  await mkdir(join(root, "home/.config/llm-do"), { recursive: true });
  file = join(root, "home/.config/llm-do/config.yaml");
  await writeFile(join(cwd, "main.worker"), "Answer.\n");
  await writeFile(
    join(cwd, "script.ts"),
    "export default (request) => (request.turn > 2 ? 'all listed' : { calls: [{ tool: 'list_files', args: {} }] });\n",
  );
});
afterAll(() => rm(root, { recursive: true }));

it("shows what holds, and where it is from", async () => {
  await writeFile(file, "limits: { usd: 2, depth: 3 }\nverbosity: 1\naliases: { fast: ollama:llama3 }\n");
  const shown = await runCli(["config"], { cwd, env: { LLM_DO_MODEL: "anthropic:m" } });
  expect(shown.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["model", "anthropic:m", "LLM_DO_MODEL"],
    ["aliases.fast", "ollama:llama3", file],
    ["limits.depth", "3", file],
    ["limits.turns", "50", "default"],
    ["limits.tool_calls", "none", "default"],
    ["limits.tokens", "none", "default"],
    ["limits.usd", "2", file],
    ["limits.seconds", "none", "default"],
    ["limits.parallel", "8", "default"],
    ["verbosity", "1", file],
    [""],
  ]);
  const { settings } = JSON.parse((await runCli(["config", "--json"], { cwd })).stdout);
  expect(settings).toContainEqual({ key: "limits.usd", value: 2, source: file });
});

it("limits every run, the smaller of two holds, and a flag says another", async () => {
  await writeFile(file, "limits: { turns: 2 }\nverbosity: 1\n");
  await writeFile(join(cwd, "main.worker"), "---\ntoolsets: { filesystem: {} }\n---\nAnswer.\n");
  const run = (...more: string[]) => runCli([".", "x", "--model", "scripted:script.ts", "--trust", ...more], { cwd });
  const limited = await run();
  expect(limited.exitCode).toBe(6);
  // By `verbosity`, as with -v.
  expect(limited.stderr).toContain("list_files");
  await writeFile(join(cwd, "llm-do.yaml"), "limits: { turns: 40 }\n");
  expect((await run("-q")).exitCode).toBe(6);
  expect(await run("-q", "--limit", "turns=5")).toMatchObject({ exitCode: 0, stdout: "all listed\n", stderr: "" });
  // By `verbosity: 2`, as with -vv: the text as it comes.
  await writeFile(file, "verbosity: 2\n");
  const streamed = await run("--limit", "turns=5");
  expect(streamed).toMatchObject({ exitCode: 0, stdout: "all listed\n" });
  expect(streamed.stderr).toContain("all listed");
});

it("names a file that its user probably takes for the configuration", async () => {
  await rm(file);
  await writeFile(file.replace(/yaml$/, "yml"), "limits: { usd: 1 }\n");
  const shown = await runCli(["config"], { cwd });
  expect(shown).toMatchObject({ exitCode: 2, stdout: "" });
  expect(shown.stderr).toContain("`config.yml` is not read");
  expect(shown.stderr).toContain("rename it to `config.yaml`");
  expect(await runCli([".", "x", "--model", "scripted:script.ts", "--trust"], { cwd })).toMatchObject({
    exitCode: 2,
    stdout: "",
  });
  await rm(file.replace(/yaml$/, "yml"));
});

it("says where an alias that names no model is written", async () => {
  await writeFile(file, "aliases: { a: b, b: a }\n");
  const { stderr } = await runCli([".", "x", "--model", "a"], { cwd });
  expect(stderr).toContain(`the alias \`a\` stands for \`b\`, which is no model\n --> ${file}:1:15\n`);
  await rm(file);
});

it("never prints a key that stands in the configuration", async () => {
  const key = "sk-proj-AbCdEf0123456789AbCdEf0123456789";
  await writeFile(file, `openai_api_key: ${key}\nkeys: { mistral: abCd1EFg234hIjK5678901234567 }\n`);
  const refused = await runCli(["check", "."], { cwd });
  expect(refused.stderr).toContain("keep a key with `llm-do keys set openai`");
  await writeFile(file, `model: ${key}\n`);
  const taken = [
    await runCli([".", "x"], { cwd }),
    await runCli(["config"], { cwd }),
    await runCli([".", "--model", key], { cwd }),
  ];
  for (const { stdout, stderr } of [refused, ...taken]) {
    expect(stdout + stderr).toContain("****");
    expect(stdout + stderr).not.toMatch(/sk-proj-A|abCd1EFg/);
  }
});
