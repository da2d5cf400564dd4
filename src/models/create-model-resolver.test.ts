import { expect, test } from "vitest";
import { createModelResolver } from "./create-model-resolver.ts";
import { ModelError } from "./model.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";

const environment: ProviderEnvironment = {
  variable: () => undefined,
  fetch: () => Promise.reject(new Error("no network")),
  importScript: async () => ({}),
  readText: async () => "",
};

function provider(name: string, created: string[], fails = 0): Provider {
  let failures = fails;
  return {
    name,
    description: name,
    keyVariables: [],
    async create(model) {
      created.push(`${name}:${model}`);
      if (failures-- > 0) throw new ModelError({ code: "auth", model, message: "no key" });
      return { id: `${name}:${model}`, generate: () => Promise.reject(new Error("not asked")) };
    },
  };
}

test("one model an id, however it is spelt and however often asked for", async () => {
  const created: string[] = [];
  const resolve = createModelResolver(environment, [provider("mine", created)]);
  const models = await Promise.all(["mine:x", "mine/x", " MINE:x ", "mine:y"].map((id) => resolve(id)));
  expect(new Set(models).size).toBe(2);
  expect(created).toEqual(["mine:x", "mine:y"]);
});

test("a failure is not kept", async () => {
  const created: string[] = [];
  const resolve = createModelResolver(environment, [provider("mine", created, 1)]);
  await expect(resolve("mine:x")).rejects.toMatchObject({ code: "auth" });
  expect(await resolve("mine:x")).toMatchObject({ id: "mine:x" });
});

test("an unknown provider lists those that are known", async () => {
  const resolve = createModelResolver(environment, [provider("mine", []), provider("yours", [])]);
  await expect(resolve("your:x")).rejects.toThrow(/Did you mean "yours"\? Providers: mine, yours\./);
  await expect(resolve("your:x")).rejects.toMatchObject({ code: "not_found", retryable: false });
  await expect(resolve("x")).rejects.toBeInstanceOf(ModelError);
});

test("an own provider goes before a built-in one of its name", async () => {
  const created: string[] = [];
  const resolve = createModelResolver(environment, [provider("mine", []), provider("mine", created)]);
  await resolve("mine:x");
  expect(created).toEqual(["mine:x"]);
});
