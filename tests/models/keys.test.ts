import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { Model } from "../../src/models/model.ts";
import { anthropic, chat } from "./dialects.ts";
import { generate, request, user } from "./fixtures.ts";
import { testEnvironment } from "./local-server.ts";

/** Resolves a model whose requests go nowhere, and tells where they would have gone and with what. */
async function ask(id: string, variables: Record<string, string>, answer: unknown) {
  const seen: { url: string; headers: Headers }[] = [];
  const environment = {
    ...testEnvironment(variables),
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      seen.push({ url: String(input), headers: new Headers(init?.headers) });
      return Response.json(answer);
    },
  };
  const model: Model = await createModelResolver(environment)(id);
  await generate(model, request([user("Hi")]), false);
  return seen[0];
}

const claude = anthropic.body({ text: "ok" });
const local = chat.body({ text: "ok" });

describe("a server of this machine that is not there", () => {
  test("is asked once, and the message says how to start it", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:11434"), { code: "ECONNREFUSED" });
    const environment = {
      ...testEnvironment({}),
      fetch: () => Promise.reject(new TypeError("fetch failed", { cause: refused })),
    };
    const model = await createModelResolver(environment)("ollama:llama3:8b");
    await expect(generate(model, request([user("Hi")]), false)).rejects.toMatchObject({
      ...{ code: "network", retryable: false, message: expect.stringContaining("start Ollama (`ollama serve`)") },
    });
  });
});

describe("keys and addresses", () => {
  test("the key goes to the provider's own address", async () => {
    const seen = await ask("anthropic:claude-sonnet-4-5", { ANTHROPIC_API_KEY: " sk-own \n" }, claude);
    expect(seen?.url).toBe("https://api.anthropic.com/v1/messages");
    expect(seen?.headers.get("x-api-key")).toBe("sk-own");
  });

  test("and not elsewhere, loopback included", async () => {
    for (const address of ["http://127.0.0.1:4000", "https://api.anthropic.com.evil.example/v1", "http://api.anthropic.com/v1"]) {
      const variables = { ANTHROPIC_API_KEY: "sk-own", ANTHROPIC_BASE_URL: address };
      const asked = ask("anthropic:claude-sonnet-4-5", variables, claude);
      await expect(asked).rejects.toMatchObject({ code: "auth", retryable: false });
      await expect(asked).rejects.toThrow("ANTHROPIC_BASE_URL_KEY");
    }
  });

  test("another address gets the key that is named for it", async () => {
    const variables = {
      ANTHROPIC_API_KEY: "sk-own",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:4000",
      ANTHROPIC_BASE_URL_KEY: "gateway",
    };
    const seen = await ask("anthropic:claude-sonnet-4-5", variables, claude);
    expect(seen?.url).toBe("http://127.0.0.1:4000/v1/messages");
    expect(seen?.headers.get("x-api-key")).toBe("gateway");
  });

  test("the provider's own address, written out, is its own address", async () => {
    const variables = { ANTHROPIC_API_KEY: "sk-own", ANTHROPIC_BASE_URL: "https://api.anthropic.com" };
    const seen = await ask("anthropic:claude-sonnet-4-5", variables, claude);
    expect(seen?.url).toBe("https://api.anthropic.com/v1/messages");
    expect(seen?.headers.get("x-api-key")).toBe("sk-own");
  });

  test("the process's own environment is not read", async () => {
    process.env["OPENAI_API_KEY"] = "sk-from-process";
    process.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9";
    try {
      await expect(ask("openai:gpt-5", {}, {})).rejects.toThrow("openai:gpt-5 needs a key. Set OPENAI_API_KEY");
      const seen = await ask("anthropic:claude-sonnet-4-5", { ANTHROPIC_API_KEY: "sk-own" }, claude);
      expect(seen?.url).toBe("https://api.anthropic.com/v1/messages");
    } finally {
      delete process.env["OPENAI_API_KEY"];
      delete process.env["ANTHROPIC_BASE_URL"];
    }
  });

  test.each([
    [{}, "http://localhost:11434/v1/chat/completions", null],
    [{ OLLAMA_HOST: "0.0.0.0" }, "http://127.0.0.1:11434/v1/chat/completions", null],
    [{ OLLAMA_HOST: "box:9999" }, "http://box:9999/v1/chat/completions", null],
    [{ OLLAMA_HOST: "https://box/ollama/" }, "https://box/ollama/v1/chat/completions", null],
    [
      { OLLAMA_HOST: "box", OLLAMA_BASE_URL: "https://ollama.com/v1", OLLAMA_BASE_URL_KEY: "k" },
      "https://ollama.com/v1/chat/completions",
      "Bearer k",
    ],
  ])("Ollama with %o", async (variables, url, authorization) => {
    const seen = await ask("ollama:llama3:8b", variables, local);
    expect([seen?.url, seen?.headers.get("authorization")]).toEqual([url, authorization]);
  });

  test("a server of one's own needs its address, and no key", async () => {
    await expect(ask("openai-compatible:m", {}, local)).rejects.toThrow("Set OPENAI_COMPATIBLE_BASE_URL");
    const variables = { OPENAI_COMPATIBLE_BASE_URL: "http://localhost:8000/v1/" };
    const open = await ask("openai-compatible:m", variables, local);
    expect([open?.url, open?.headers.get("authorization")]).toEqual(["http://localhost:8000/v1/chat/completions", null]);
    const closed = await ask("openai-compatible:m", { ...variables, OPENAI_COMPATIBLE_API_KEY: "own" }, local);
    expect(closed?.headers.get("authorization")).toBe("Bearer own");
  });

  test("OpenRouter takes ids with slashes", async () => {
    const seen = await ask("openrouter/anthropic/claude-sonnet-4", { OPENROUTER_API_KEY: "or" }, local);
    expect(seen?.url).toBe("https://openrouter.ai/api/v1/chat/completions");
  });

  test("what cannot be an address or a key is refused without showing it", async () => {
    const cases: Record<string, string>[] = [
      { OPENAI_API_KEY: "sk-with\ncontrol" },
      { OPENAI_BASE_URL: "ftp://sk-with/v1", OPENAI_BASE_URL_KEY: "k" },
      { OPENAI_BASE_URL: "https://me:sk-with@gateway/v1", OPENAI_BASE_URL_KEY: "k" },
    ];
    for (const variables of cases) {
      const error = await ask("openai:gpt-5", variables, {}).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "auth" });
      expect(String(error)).not.toContain("sk-with");
    }
  });
});
