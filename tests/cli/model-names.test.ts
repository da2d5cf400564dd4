import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compile } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { runCli } from "./run-cli.ts";

let root: string;
let cwd: string;
const config = () => join(root, "home/.config/llm-do/config.yaml");

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "llm-do-names-"));
  cwd = join(root, "work");
  await mkdir(cwd);
});
afterAll(() => rm(root, { recursive: true }));

it("sets a default and aliases, and keeps what else the configuration holds", async () => {
  await mkdir(dirname(config()), { recursive: true });
  await writeFile(config(), "# mine\naliases:\n  big: anthropic:claude-opus-4-1 # the large one\n");
  const results = [
    await runCli(["models", "alias", "fast", "ollama:llama3:8b"], { cwd }),
    await runCli(["models", "default", "fast"], { cwd }),
    await runCli(["models", "alias", "big", "--unset"], { cwd }),
  ];
  expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(results.map(() => [0, ""]));
  expect(await readFile(config(), "utf8")).toBe("# mine\naliases:\n  fast: ollama:llama3:8b\nmodel: fast\n");
  const [shown, aliases] = await Promise.all([
    runCli(["models", "default"], { cwd, env: { LLM_DO_MODEL: "openai:gpt-5" } }),
    runCli(["models", "alias"], { cwd }),
  ]);
  expect(shown.stdout).toBe(`openai:gpt-5  LLM_DO_MODEL\nfast          ${config()}, not used: LLM_DO_MODEL is set\n`);
  expect(aliases.stdout).toBe("fast  ollama:llama3:8b\n");
});

it.each([
  [["models", "default", "claude-sonnet-4-5"], 'Did you mean "anthropic:claude-sonnet-4-5"'],
  [["models", "default", "antropic:x"], 'Did you mean "anthropic"'],
  [["models", "alias", "a:b", "ollama:x"], "cannot be an alias"],
  [["models", "alias", "nobody"], "there is no alias `nobody`"],
  [["models", "alias", "nobody", "--unset"], "there is no alias `nobody`"],
])("refuses %j", async (args, words) => {
  expect(await runCli(args, { cwd })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
});

const path = "/home/user/.config/llm-do/config.yaml";

async function modelOf(frontmatter: string, text: string, environment: Record<string, string> = {}) {
  const host = memoryHost({ files: { "main.worker": `---\n${frontmatter}---\nGo.\n`, [path]: text }, environment });
  const { program, diagnostics } = await compile({ target: "main.worker", host, toRun: true });
  const { id, source } = program?.workers.get("main")?.model ?? {};
  return { id, source, diagnostics: diagnostics.map(({ code, span }) => `${code} ${span?.source.name}`) };
}

it("is the last to name a model, and an alias stands for a model wherever one is written", async () => {
  const text = "model: small\naliases: { small: ollama:llama3 }\n";
  expect(await modelOf("", text)).toMatchObject({ id: "ollama:llama3", source: "your default model", diagnostics: [] });
  expect(await modelOf("", text, { LLM_DO_MODEL: "openai:gpt-5" })).toMatchObject({ id: "openai:gpt-5" });
  expect(await modelOf("model: small\n", "aliases: { small: ollama:other }\n")).toMatchObject({ id: "ollama:other" });
});

it("reports the mistakes of the configuration at their place", async () => {
  const { diagnostics } = await modelOf(
    "",
    "model: ollama:x\nmodle: ollama:y\naliases: { 'a:b': ollama:z }\nlogins: { openai: { client_id: x } }\n",
  );
  expect(diagnostics).toEqual([`unknown-key ${path}`, `invalid-name ${path}`, `missing-key ${path}`]);
});
