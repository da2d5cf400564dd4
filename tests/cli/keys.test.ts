import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { chat } from "../models/dialects.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { runsIn } from "../records.ts";
import { runCli } from "./run-cli.ts";

const key = "sk-test-0123456789abcdefghij";
let root: string;
let cwd: string;
const stored = () => join(root, "state/credentials/keys.json");

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "llm-do-keys-"));
  cwd = await mkdtemp(join(root, "work-"));
});
afterAll(() => rm(root, { recursive: true }));

it("keeps a key from stdin in a file of the user alone, lists it masked, and removes it", async () => {
  const set = await runCli(["keys", "set", "openrouter"], { cwd, input: `${key}\n` });
  expect(set).toMatchObject({ exitCode: 0, stdout: "" });
  const modes = await Promise.all(
    [stored(), join(root, "state/credentials")].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o600, 0o700]);
  expect(JSON.parse(await readFile(stored(), "utf8"))).toMatchObject({ v: 1, entries: { openrouter: { key } } });
  const env = { OPENROUTER_API_KEY: "or-of-the-environment-42", GROQ_API_KEY: "short-one" };
  const [kept, both, models] = await Promise.all([
    runCli(["keys", "list"], { cwd }),
    runCli(["keys", "list", "--json"], { cwd, env }),
    runCli(["models"], { cwd }),
  ]);
  expect(kept.stdout).toMatch(/^openrouter {2}…ghij {2}kept since \d{4}-\d\d-\d\d\n$/);
  expect(JSON.parse(both.stdout).keys).toMatchObject([
    { provider: "openrouter", source: "OPENROUTER_API_KEY", key: "…t-42", used: true },
    { provider: "openrouter", source: "keys", key: "…ghij", used: false },
    { provider: "groq", source: "GROQ_API_KEY", key: "…", used: true },
  ]);
  expect(models.stdout).toMatch(/^openrouter +ready /m);
  const removed = await runCli(["keys", "rm", "openrouter"], { cwd });
  expect(removed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("is removed") });
  expect(await readFile(stored(), "utf8")).not.toContain(key);
  for (const { stdout, stderr } of [set, kept, both, models, removed]) expect(stdout + stderr).not.toContain(key);
  expect(await readdir(join(root, "state/credentials"))).toEqual(["keys.json"]);
});

it("takes no key as an argument, and repeats none", async () => {
  const mistakes = await Promise.all([
    runCli(["keys", "set", "openai", key], { cwd }),
    runCli(["keys", "set", key], { cwd, input: key }),
    runCli(["keys", "set", "openai"], { cwd, input: "two words of it" }),
    runCli(["keys", "set", "openai"], { cwd }),
    runCli(["keys", "set", "opanai"], { cwd, input: key }),
    runCli(["keys", "rm", "openai"], { cwd }),
    runCli(["keys", "set", "ollama"], { cwd, input: key }),
  ]);
  expect(mistakes.map(({ exitCode }) => exitCode)).toEqual(mistakes.map(() => 2));
  for (const { stderr } of mistakes) expect(stderr).not.toMatch(/0123456789|two words of/);
  expect(mistakes[4]?.stderr).toContain("did you mean openai");
  expect(mistakes[6]?.stderr).toContain("ollama takes no key");
});

const file = "/home/user/.local/state/llm-do/credentials/keys.json";
const entry = { key, setAt: "2026-01-01T00:00:00.000Z" };

function hostWith(environment: Readonly<Record<string, string>>, answer: (authorization: string | null) => string) {
  const seen: { url: string; authorization: string | null }[] = [];
  const host = memoryHost({
    files: { "main.worker": "---\ndescription: x\n---\nGo.\n", [file]: JSON.stringify({ v: 1, entries: { openrouter: entry } }) },
    environment,
    fetch: async (input, init) => {
      const authorization = new Headers(init?.headers).get("authorization");
      seen.push({ url: String(input), authorization });
      return Response.json(chat.body({ text: answer(authorization) }));
    },
  });
  const ask = () => run({ target: "main.worker", input: "x", model: "openrouter:m", approval: { mode: "reject_all" }, host });
  return { host, seen, ask };
}

it("is used for its provider's own address, and the environment wins", async () => {
  const own = hostWith({}, () => "yes");
  await own.ask();
  expect(own.seen).toEqual([{ url: "https://openrouter.ai/api/v1/chat/completions", authorization: `Bearer ${key}` }]);
  const other = hostWith({ OPENROUTER_API_KEY: "of-the-environment" }, () => "yes");
  await other.ask();
  expect(other.seen[0]?.authorization).toBe("Bearer of-the-environment");
  const elsewhere = hostWith({ OPENROUTER_BASE_URL: "http://gateway.example/v1" }, () => "yes");
  await expect(elsewhere.ask()).rejects.toThrow("set OPENROUTER_BASE_URL_KEY");
  expect(elsewhere.seen).toEqual([]);
});

it("is in no journal, event or message, and a refusal names the command that keeps it", async () => {
  const { host, ask } = hostWith({}, () => `the key is ${key}`);
  await ask();
  const recorded = Object.entries(host.snapshot(runsIn("/work"))).map(([, text]) => text);
  expect(recorded.join()).toContain("⟦secret:OPENROUTER_API_KEY⟧");
  expect(recorded.join()).not.toContain(key);
  await using server = await startServer((response) => sendJson(response, chat.error(`bad key ${key}`), 401));
  const redirected = memoryHost({
    files: { "main.worker": "---\ndescription: x\n---\nGo.\n", [file]: JSON.stringify({ v: 1, entries: { openrouter: entry } }) },
    fetch: (_, init) => fetch(server.url, init),
  });
  const failed = run({
    target: "main.worker",
    input: "x",
    model: "openrouter:m",
    approval: { mode: "reject_all" },
    host: redirected,
  });
  await expect(failed).rejects.toThrow("refused the key in llm-do keys (openrouter) (HTTP 401): bad key ⟦secret:");
});

it("ends a run whose file of keys is damaged before its first request", async () => {
  const { host, ask, seen } = hostWith({}, () => "yes");
  host.put(file, '{"v":1,"entries":');
  await expect(ask()).rejects.toThrow("keys.json is not a file of credentials");
  expect(seen).toEqual([]);
});
