import type { GatedToolset, ToolsetBinding } from "../../approval/gate-types.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { ToolDefinition, ToolError } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { preApproved, type Tool, toolMark, toolsetMark } from "../../toolsets/toolset.ts";
import { createGrowingFold } from "../../util/growing-fold.ts";
import type { CallConfig, CallFrame } from "../config.ts";
import { toolsetsOf } from "./cut-results.ts";

/*
 * Large lists of tools. The definitions of deferred tools are not part of a request until a call of `search_tools` has loaded them.
 * The loaded tools are a fold over the results of these calls in the conversation, so a replay comes to the same ones.
 */

export const searchTools = "search_tools";
/** Limit of what one search loads. */
const maxLoaded = 10;
/** Limit for the names in the description of `search_tools`, in characters. */
const maxNameCharacters = 30_000;

type DeferringCall = Pick<CallConfig, "toolsets" | "deferred">;

/** The definitions that the next request has: those that are not deferred, then the loaded ones in the order of their loading. */
export function offeredTools(call: DeferringCall, frame: Pick<CallFrame, "messages" | "cuts" | "created">): ToolDefinition[] {
  const { deferred } = call;
  const all = toolsetsOf(call, frame).flatMap(({ definitions }) => definitions);
  if (deferred.size === 0) return all;
  const byName = new Map(all.map((definition) => [definition.name, definition]));
  const loaded = [...loadedNames(frame.messages)].flatMap((name) => (deferred.has(name) ? (byName.get(name) ?? []) : []));
  return [...all.filter(({ name }) => !deferred.has(name)), ...loaded];
}

/** Refuses a call of a tool whose definition the model has not seen. */
export function whyNotLoaded({ deferred }: DeferringCall, { messages }: CallFrame, name: string): ToolError | undefined {
  if (!deferred.has(name) || loadedNames(messages).has(name)) return undefined;
  const hint = `find it with \`${searchTools}\` first`;
  return { type: "unknown_tool", error: `\`${name}\` is not loaded, so its arguments are not known`, hint };
}

/** The names of the tools that the searches of a conversation have loaded. */
const loadedNames: (messages: readonly Message[]) => ReadonlySet<string> = createGrowingFold<Message, Set<string>>(
  () => new Set(),
  (names, { role, parts }) => {
    if (role !== "tool") return;
    for (const { name, result } of parts) {
      const value = name === searchTools && result.ok ? result.value : undefined;
      const loaded = isRecord(value) && Array.isArray(value["loaded"]) ? value["loaded"] : [];
      for (const one of loaded) if (typeof one === "string") names.add(one);
    }
  },
);

/** The toolset with the one tool that finds and loads deferred tools. */
export function searchToolset(toolsets: readonly GatedToolset[], deferred: ReadonlySet<string>): ToolsetBinding {
  const definitions = toolsets.flatMap((one) => one.definitions).filter(({ name }) => deferred.has(name));
  const query = { type: "string", description: "Words about what you want to do, or names of tools." };
  const tool: Tool = {
    [toolMark]: true,
    name: searchTools,
    description: `Finds tools and loads up to ${maxLoaded} of them, which you can call from your next turn on. ${listNames(definitions)}`,
    input: fromJsonSchema({ type: "object", properties: { query }, required: ["query"], additionalProperties: false }),
    sideEffect: false,
    execute: async (args) => search(String(args["query"]), definitions),
  };
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name: searchTools,
    tools: () => [tool],
    needsApproval: () => preApproved("it only loads definitions"),
    describeCall: () => "Search for tools",
  });
  return { reference: searchTools, toolset, config: undefined, approvals: new Map(), tools: [tool] };
}

function listNames(definitions: readonly ToolDefinition[]): string {
  const shown: string[] = [];
  let characters = 0;
  for (const { name } of definitions) {
    characters += name.length + 2;
    if (characters > maxNameCharacters) break;
    shown.push(name);
  }
  const hidden = definitions.length - shown.length;
  return `Not loaded at the start: ${shown.join(", ")}${hidden > 0 ? `, and ${hidden} more` : ""}.`;
}

function search(query: string, definitions: readonly ToolDefinition[]) {
  const names = new Set(query.split(/[\s,`"]+/));
  const words = [...new Set(wordsOf(query))];
  const ranked = definitions
    .map((definition) => ({ name: definition.name, score: names.has(definition.name) ? 1000 : scoreOf(definition, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const loaded = ranked.slice(0, maxLoaded).map(({ name }) => name);
  if (loaded.length === 0) return { loaded, hint: "no tool has these words; try others, or a name" };
  return ranked.length > maxLoaded ? { loaded, more: ranked.length - maxLoaded } : { loaded };
}

/** A word counts most as a part of the name, and least within the description. */
function scoreOf({ name, description }: ToolDefinition, words: readonly string[]): number {
  const [inName, text] = [wordsOf(name), description.toLowerCase()];
  return words.reduce((sum, word) => {
    if (inName.includes(word)) return sum + 5;
    if (inName.some((part) => part.startsWith(word) || word.startsWith(part))) return sum + 3;
    return sum + (text.includes(word) ? 1 : 0);
  }, 0);
}

/** Words of at least two letters: `readFile`, `read_file` and `Read file` have the same ones. */
function wordsOf(text: string): string[] {
  const apart = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
}
