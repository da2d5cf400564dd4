import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { ServerTool, ToolDefinition } from "../../protocol/tool.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { ModelError, type ModelRequest, type ModelSettings } from "../model.ts";
import { type OptionRules, refuseOption } from "../options/option-rules.ts";
import { refuseServerTool, type ServerToolSupport } from "../server-tools.ts";
import { describeOutput, type OutputFacts, type OutputForm } from "./answer-tool.ts";
import { type CacheMark, markCache } from "./cache-marks.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { type ResultFiles, toPrompt } from "./to-prompt.ts";

export interface CallOptionsFacts extends OutputFacts {
  /** `provider:name`. */
  readonly id: string;
  /** The name under which the library takes its own options. */
  readonly optionsKey: string;
  /** The options that a request may have. Absent: any. */
  readonly optionRules?: OptionRules;
  /** Provider options that hold unless the worker says otherwise. */
  readonly defaults?: JsonObject;
  /** Absent: the provider finds by itself what is in its cache. */
  readonly cacheMark?: CacheMark;
  readonly serverTools?: ServerToolSupport;
  /** Absent: its models take none, and get a sentence in their place. */
  readonly resultFiles?: ResultFiles;
  /** True if its models take no tools: a request with some is an error before it is sent. */
  readonly takesNoTools?: boolean;
  /** A tool of `serverTools` as the library takes it. */
  toServerTool?(tool: ServerTool): LanguageModelV4ProviderTool;
}

const convertedTools = new WeakMap<ToolDefinition, LanguageModelV4FunctionTool>();

/** Converts a request to the library's call. The worker and the call path are not part of it. */
export function toCallOptions(request: ModelRequest, facts: CallOptionsFacts, output: OutputForm): LanguageModelV4CallOptions {
  if (facts.takesNoTools && request.tools.length > 0) throw refuseTools(request, facts);
  const asked = describeOutput(output);
  const system = asked === undefined ? request.system : [...request.system, asked];
  const serverTools = (request.serverTools ?? []).map((tool) => toServerTool(tool, facts));
  const tools = [...request.tools.map(toTool), ...(output.type === "tool" ? [output.tool] : []), ...serverTools];
  const options = toProviderOptions(request, facts);
  const whole = { prompt: toPrompt(system, request.messages, facts.resultFiles), ...(tools.length > 0 ? { tools } : {}) };
  return {
    ...withMarks(whole, options, facts),
    ...toSettings(request.settings),
    ...(tools.length > 0 ? { toolChoice: toToolChoice(output) } : {}),
    ...(output.type === "native" ? { responseFormat: { type: "json", schema: output.schema as object } } : {}),
  };
}

function refuseTools({ tools }: ModelRequest, { id: model }: CallOptionsFacts): ModelError {
  const names = tools.map(({ name }) => `\`${name}\``).join(", ");
  const message = `${model} takes no tools, and the worker has ${clipText(names, 200)}; choose another model, or call this one as a worker without tools`;
  return new ModelError({ code: "bad_request", model, message });
}

/** A mark that the worker sets for the whole request becomes those of its places: the provider would count both. */
function withMarks(
  whole: Pick<LanguageModelV4CallOptions, "prompt" | "tools">,
  options: Record<string, never>,
  { id, optionsKey, cacheMark }: CallOptionsFacts,
): Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "providerOptions"> {
  const { option, value, models = /^/, onParts } = cacheMark ?? {};
  if (option === undefined || !models.test(id.slice(id.indexOf(":") + 1)))
    return { ...whole, ...(Object.keys(options).length > 0 ? { providerOptions: { [optionsKey]: options } } : {}) };
  const { [option]: own, ...others } = options;
  const mark = { [optionsKey]: { [option]: own ?? (value as never) } };
  const always = own !== undefined;
  return { ...markCache(whole, { mark, always, ...(onParts ? { onParts } : {}) }), providerOptions: { [optionsKey]: others } };
}

function toSettings(settings: ModelSettings): Omit<LanguageModelV4CallOptions, "prompt"> {
  return {
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.max_output_tokens === undefined ? {} : { maxOutputTokens: settings.max_output_tokens }),
    ...(settings.top_p === undefined ? {} : { topP: settings.top_p }),
    ...(settings.seed === undefined ? {} : { seed: settings.seed }),
    ...(settings.reasoning === undefined ? {} : { reasoning: settings.reasoning }),
  };
}

/** Asks for strictness only where the schema allows it: a request with optional members would be rejected. */
function toProviderOptions(request: ModelRequest, facts: CallOptionsFacts): Record<string, never> {
  const strictness = request.output && !isStrictSchema(request.output) ? { strictJsonSchema: false } : {};
  const defaults = { ...facts.defaults, ...carried(request.messages) };
  return { ...defaults, ...strictness, ...ownOptions(request.settings, facts) } as Record<string, never>;
}

/**
 * Returns the options of this provider. The compiler has rejected others; this check covers requests that were made without it.
 */
function ownOptions({ provider_options: all = {} }: ModelSettings, { id, optionRules }: CallOptionsFacts): JsonObject {
  const own = getOwn(all, id.slice(0, id.indexOf(":")));
  if (!isRecord(own)) return {};
  for (const name of Object.keys(own)) {
    const refusal = optionRules && refuseOption(name, optionRules);
    if (!refusal) continue;
    throw new ModelError({
      code: "bad_request",
      model: id,
      message: `the option \`${name}\` ${refusal.message}: ${refusal.hint}`,
    });
  }
  return own as JsonObject;
}

/** Returns what the last answer asked all later requests to carry. */
function carried(messages: readonly Message[]): JsonObject | undefined {
  const last = messages.findLast((message) => message.role === "assistant" && message.providerData !== undefined);
  return last?.role === "assistant" ? last.providerData : undefined;
}

function toServerTool(tool: ServerTool, facts: CallOptionsFacts): LanguageModelV4ProviderTool {
  const { id: model, serverTools = {}, toServerTool: convert } = facts;
  const refusal = refuseServerTool(tool, { name: model, serverTools });
  if (refusal || !convert)
    throw new ModelError({ code: "bad_request", model, message: refusal?.message ?? `${model} has no server-side tools` });
  return convert(tool);
}

function toTool(tool: ToolDefinition): LanguageModelV4FunctionTool {
  return getOrMake(convertedTools, tool, () => {
    const { name, description } = tool;
    // OpenAI refuses an object schema without members.
    return { type: "function", name, description, inputSchema: { properties: {}, ...tool.inputSchema } as object };
  });
}

/** The answer's tool is required where it is the only one; beside others the model decides when it is done. */
function toToolChoice(output: OutputForm): NonNullable<LanguageModelV4CallOptions["toolChoice"]> {
  return output.type === "tool" && output.alone ? { type: "tool", toolName: output.tool.name } : { type: "auto" };
}
