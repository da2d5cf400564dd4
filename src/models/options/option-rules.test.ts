import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtInProviders } from "../providers/providers.ts";
import { checkOptions, refuseOption } from "./option-rules.ts";
import { anthropicOptions } from "./provider-options.ts";

const rules = await Promise.all(
  builtInProviders.flatMap(({ name, loadOptionRules }) =>
    loadOptionRules ? [loadOptionRules().then((loaded) => [name, loaded] as const)] : [],
  ),
);

test.each(rules)("%s: the docs list what is allowed", (_name, allowed) => {
  const docs = readFileSync(new URL("../../../docs/worker-format.md", import.meta.url), "utf8");
  const section = docs.slice(docs.indexOf("#### `provider_options`"), docs.indexOf("### `toolsets`"));
  expect(Object.keys(allowed).filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
});

test.each(rules)("%s: nothing that turns on a tool, storage, another model or address is allowed", (_name, allRules) => {
  const kinds = [
    ...["tools", "mcpServers", "plugins", "web_search_options", "search_parameters", "container", "tool_choice", "functions"],
    ...["store", "previousResponseId", "conversation", "thread", "preset", "background"],
    ...["model", "models", "fallbacks", "messages", "stream", "instructions", "system"],
    ...["baseURL", "base_url", "headers", "apiKey", "fetch", "url", "__proto__", "constructor", "toString"],
  ];
  expect(kinds.filter((name) => refuseOption(name, allRules) === undefined)).toEqual([]);
});

test("a refusal names the place, and what to do", async () => {
  const options = { thinking: { type: "enabled", budgetTokens: "many" }, mcpServers: [], efort: "low", effort: "high" };
  expect((await checkOptions(options, anthropicOptions)).map(({ path, hint }) => [path.join("."), hint])).toEqual([
    ["mcpServers", "tools are given to a worker by `toolsets`"],
    ["efort", "did you mean `effort`?"],
    ["thinking.budgetTokens", "the provider would refuse it, or ignore it"],
  ]);
  expect(await checkOptions({ effort: "high" }, anthropicOptions)).toEqual([]);
});
