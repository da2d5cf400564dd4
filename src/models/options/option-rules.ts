import type { JsonObject } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";

/**
 * The `provider_options` that a worker file may set, with the schema of each value. An option that turns on a tool, storage,
 * another model or another address is in no list: no gate would ask for it.
 */
export type OptionRules = Readonly<Record<string, JsonSchema>>;

export interface OptionRefusal {
  /** Keys from the provider's options to the value. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string;
}

/** Replacements for options that no list has, in the spellings of all providers. */
const replacements: readonly (readonly [hint: string, names: string])[] = [
  [
    "tools that the provider executes are enabled by `server_side_tools`",
    "container include plugins web_search_options search_parameters",
  ],
  ["tools are given to a worker by `toolsets`", "tools toolChoice tool_choice allowedTools mcpServers functions function_call"],
  ["the form of the answer is the worker's `output`", "textFormat response_format guided_json"],
  ["the model is named by `model`", "model models fallbacks route"],
  [
    "nothing is stored at the provider: each request holds the whole conversation",
    "store thread conversation previousResponseId contextManagement compactionTrigger background preset",
  ],
  ["a server with an address of its own is declared under `providers` of `llm-do.yaml`", "baseURL base_url headers"],
  ["what the model reads is the worker's instructions and its input", "instructions messages chat_template"],
  ["answers are streamed where something receives the deltas", "stream stream_options"],
  ["write `model_settings.reasoning`", "reasoning"],
  ["write `model_settings.temperature`", "temperature"],
  ["write `model_settings.top_p`", "topP top_p"],
  ["write `model_settings.seed`", "seed"],
  ["write `model_settings.max_output_tokens`", "maxTokens max_tokens maxOutputTokens max_completion_tokens"],
];

/** Reports each option that may not be set, and each value that does not fit. */
export async function checkOptions(options: JsonObject, rules: OptionRules): Promise<readonly OptionRefusal[]> {
  const refusals = Object.keys(options).flatMap((name) => refuseOption(name, rules) ?? []);
  const allowed = Object.entries(options).filter(([name]) => Object.hasOwn(rules, name));
  const properties = Object.fromEntries(allowed.map(([name]) => [name, rules[name] ?? {}]));
  const checked = await fromJsonSchema({ type: "object", properties }).validate(Object.fromEntries(allowed));
  const hint = "the provider would refuse it, or ignore it";
  return checked.ok ? refusals : [...refusals, ...checked.issues.map(({ path, message }) => ({ path, message, hint }))];
}

/** Returns undefined if the option may be set. */
export function refuseOption(name: string, rules: OptionRules): OptionRefusal | undefined {
  if (Object.hasOwn(rules, name)) return undefined;
  const instead = replacements.find(([, names]) => names.split(" ").includes(name))?.[0];
  if (instead !== undefined) return { path: [name], message: "cannot be set here", hint: instead };
  const quote = (names: readonly string[], separator: string) => names.map((one) => `\`${one}\``).join(separator);
  const names = Object.keys(rules);
  const near = nearestNames(name, names);
  const list = names.length > 0 ? `the options are ${quote(names, ", ")}` : "this provider takes no options";
  const hint = near.length > 0 ? `did you mean ${quote(near, " or ")}?` : list;
  return { path: [name], message: "is not an option that llm-do passes on", hint };
}
