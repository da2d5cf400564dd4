import { expect, test } from "vitest";
import { listModels } from "../../src/models/model-catalog.ts";
import { builtInProviders } from "../../src/models/providers/providers.ts";
import { sendJson, startServer, testEnvironment } from "./local-server.ts";

const served = { object: "list", data: [{ id: "qwen3:8b", object: "model" }, { id: "llama3.3", object: "model" }, { name: 7 }] };

test.each([
  ["ollama", (url: string) => ({ OLLAMA_HOST: url }), undefined],
  [
    "openai-compatible",
    (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: `${url}/v1/`, OPENAI_COMPATIBLE_BASE_URL_KEY: "k" }),
    "Bearer k",
  ],
] as const)("%s is asked for its models", async (name, variables, authorization) => {
  await using server = await startServer((response) => sendJson(response, served));
  const environment = testEnvironment(variables(server.url));
  const list = async (pattern: string) => (await listModels(pattern, builtInProviders, environment)).map(({ id }) => id);
  expect(await list(name)).toEqual([`${name}:llama3.3`, `${name}:qwen3:8b`]);
  expect(await list(`${name}:qwen*`)).toEqual([`${name}:qwen3:8b`]);
  expect(server.requests.map(({ path }) => path)).toEqual(["/v1/models", "/v1/models"]);
  expect(server.requests[0]?.headers.authorization).toBe(authorization);
  await list("haiku");
  expect(server.requests).toHaveLength(2);
});

test("a server that does not say is an error, and one that is not there says how to start it", async () => {
  await using server = await startServer((response) => sendJson(response, { detail: "Not Found" }, 404));
  const at = (url: string) => listModels("ollama:*", builtInProviders, testEnvironment({ OLLAMA_HOST: url }));
  await expect(at(server.url)).rejects.toThrow("does not list its models");
  await expect(at("127.0.0.1:9")).rejects.toThrow("ollama serve");
});
