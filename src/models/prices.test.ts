import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { checkPrices, createPriceLookup, priceTable } from "./prices.ts";

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000, cachedInputTokens: 0 };

test.each([
  ["anthropic:claude-haiku-4-5", { ...million, outputTokens: 0 }, 1],
  ["anthropic:claude-haiku-4-5", { ...million, inputTokens: 0 }, 5],
  ["anthropic:claude-haiku-4-5", { ...million, outputTokens: 0, cachedInputTokens: 1_000_000 }, 0.1],
  ["anthropic:claude-haiku-4-5", { ...million, outputTokens: 0, cacheWriteTokens: 1_000_000 }, 1.25],
  ["anthropic:claude-haiku-4-5", { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, webSearches: 100 }, 1],
  ["openai:gpt-5-2025-08-07", million, 11.25],
  // More cached than there is, as some servers count.
  ["openai:gpt-5", { inputTokens: 10, outputTokens: 0, cachedInputTokens: 1_000_000 }, 0.000_001_25],
])("%s: %j costs %d dollars", async (model, billed, dollars) => {
  const priceOf = await createPriceLookup()(model);
  expect(priceOf?.(billed).usd).toBeCloseTo(dollars, 9);
  expect(priceOf?.(billed).isAtLeast).toBe(false);
});

test.each<readonly [string, object, number]>([
  ["google:gemini-2.5-flash", { webSearches: 1 }, 2.8],
  ["google:gemini-2.5-flash", { modalities: { imageOutput: 1000 } }, 2.8],
  ["google:gemini-2.5-flash", { serviceTier: "priority" }, 2.8],
  ["google:gemini-2.5-flash", { serviceTier: "flex" }, 1.4],
  ["xai:grok-4", { webSearches: 3 }, 18],
  ["openai:gpt-5", { serverTools: ["code_execution"] }, 11.25],
  ["anthropic:claude-haiku-4-5", { serverTools: ["code_execution"] }, 6],
])("%s with %j, which has no price, costs at least %d dollars", async (model, more, dollars) => {
  const cost = (await createPriceLookup()(model))?.({ ...million, ...more });
  expect(cost?.usd).toBeCloseTo(dollars, 2);
  expect(cost?.isAtLeast).toBe(true);
});

test.each<readonly [string, object, number]>([
  ["google:gemini-2.5-flash", { modalities: { audioInput: 600_000 } }, 2.5 + 0.4 * 0.3 + 0.6],
  ["google:gemini-2.5-flash-image", { modalities: { imageOutput: 500_000 } }, 0.3 + 1.25 + 15],
  ["google:gemini-2.5-flash", { serverTools: ["web_fetch", "code_execution"], serviceTier: "standard" }, 2.8],
  ["anthropic:claude-haiku-4-5", { serverTools: ["web_search", "web_fetch"], webSearches: 1 }, 6.01],
  ["scripted:/a.ts", {}, 0],
  ["ollama:qwen3", {}, 0],
])("%s with %j costs %d dollars, and no more", async (model, more, dollars) => {
  const cost = (await createPriceLookup()(model))?.({ ...million, ...more });
  expect(cost?.usd).toBeCloseTo(dollars, 9);
  expect(cost?.isAtLeast).toBe(false);
});

test.each(["ollama:gpt-oss:120b-cloud", "openai-compatible:local", "anthropic:nothing-of-theirs", "mine:gpt-5"])(
  "%s has no price that is known",
  async (model) => expect(await createPriceLookup()(model)).toBe(undefined),
);

test("what is given goes before the table, and of several the last that fits", async () => {
  const lookup = createPriceLookup({
    "*:*": { input: 9, output: 9 },
    "Scripted:*": { input: 1, output: 2 },
    "OpenAI/gpt-5": { input: 3, output: 4, cachedInput: 1 },
  });
  expect((await lookup("scripted:/A.ts"))?.(million).usd).toBe(3);
  expect((await lookup("openai:gpt-5"))?.({ ...million, cachedInputTokens: 500_000 }).usd).toBe(6);
  expect((await lookup("openai:gpt-5-mini"))?.(million).usd).toBe(18);
});

test("what is no price is refused", () => {
  for (const price of [{ input: -1, output: 1 }, { input: 1 }, { input: 1, output: Number.NaN }, { input: "1", output: 1 }])
    expect(() => checkPrices({ "a:b": price as never })).toThrow(TypeError);
});

test("the table is the one that is installed, and no other can be", async () => {
  const read = async (url: string) => JSON.parse(await readFile(new URL(url, import.meta.url), "utf8"));
  const { version, name } = await read("../../node_modules/@pydantic/genai-prices/package.json");
  expect(`${name} ${version}`).toBe(priceTable.source);
  expect((await read("../../package.json")).dependencies[name]).toBe(version);
});
