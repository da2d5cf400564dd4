import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "./run-cli.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "llm-do-models-"));
});
afterAll(() => rm(cwd, { recursive: true }));

test("lists the providers, and what each still needs", async () => {
  const env = { GROQ_API_KEY: "gsk-test", AWS_ACCESS_KEY_ID: "AKID" };
  const { exitCode, stdout } = await runCli(["models"], { cwd, env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^groq +ready +Open models on Groq; image\/\*$/m);
  expect(stdout).toMatch(/^bedrock +ready /m);
  expect(stdout).toMatch(/^mistral +set MISTRAL_API_KEY /m);
  expect(stdout).toMatch(/^google +set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY or GOOGLE_API_KEY /m);
  expect(stdout).toMatch(/^openai-compatible +set OPENAI_COMPATIBLE_BASE_URL /m);
  expect(stdout).not.toContain("gsk-test");
});

test("lists the models that fit a pattern, with price and context window", async () => {
  const { stdout, stderr } = await runCli(["models", "mistral:codestral*"], { cwd });
  expect(stdout).toMatch(/^mistral:codestral-2508 +\$[\d.]+ \/ \$[\d.]+ +256,000 tokens$/m);
  expect(stderr).toMatch(/from @pydantic\/genai-prices .* of \d{4}-\d\d-\d\d/);
  const { stdout: json } = await runCli(["models", "codestral", "--json"], { cwd });
  const { models } = JSON.parse(json);
  expect(models).toContainEqual(
    expect.objectContaining({ id: "mistral:codestral", contextWindow: 256000, needs: ["set MISTRAL_API_KEY"] }),
  );
});

test("suggests listed models for one that is mistyped", async () => {
  const { exitCode, stderr } = await runCli(["models", "mistral:codestrel"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("did you mean mistral:codestral or mistral:codestral-2508?");
});
