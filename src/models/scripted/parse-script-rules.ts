import { isRecord } from "../../protocol/json.ts";
import type { Script, ScriptedReply, ScriptedRequest } from "./script.ts";
import { checkShape, count, readReply, ScriptFault, type Shape } from "./script-shape.ts";
import { countFiles } from "./scripted-request.ts";

/** One turn of one worker's call. */
interface Rule {
  readonly where: string;
  readonly expect: Expectation;
  readonly reply: ScriptedReply;
}

type Texts = string | readonly string[];

interface Expectation {
  /** Substrings of the last user message. */
  readonly user?: Texts;
  /** Substrings of the system message's parts, joined by line breaks. */
  readonly system?: Texts;
  /** Tools whose results have just come. */
  readonly tool_result?: Texts;
  /** How many files the conversation holds. */
  readonly files?: number;
  /** Tools that are offered. */
  readonly tools?: Texts;
}

const texts: Shape = {
  is: (value) => [value].flat().every((one) => typeof one === "string"),
  must: "must be a text or a list of texts",
};
const reply: Shape = { is: (value) => value !== null, must: "is missing", isRequired: true };
const ruleShape: Shape = {
  keys: { expect: { keys: { user: texts, system: texts, tool_result: texts, files: count, tools: texts } }, reply },
};
const documentShape: Shape = {
  keys: { workers: { is: isRecord, must: "must map each worker to its turns", isRequired: true } },
};

/**
 * Reads the rules of a YAML or JSON script: `workers: { main: [{ expect, reply }, …] }`, one rule a turn; `*` stands for
 * all workers without rules of their own, and a bare list is the list of `*`. Returns the names of the workers, too, without `*`.
 * Throws a `ScriptFault`.
 */
export function parseScriptRules(document: unknown): { readonly script: Script; readonly workers: readonly string[] } {
  if (Array.isArray(document)) {
    const rules = new Map([["*", readRules(document, [])]]);
    return { script: (request) => play(rules, request), workers: [] };
  }
  checkShape(document, documentShape, []);
  const { workers } = document as { readonly workers: Record<string, unknown> };
  const rules = new Map(Object.entries(workers).map(([name, turns]) => [name, readRules(turns, ["workers", name])]));
  return { script: (request) => play(rules, request), workers: [...rules.keys()].filter((name) => name !== "*") };
}

function readRules(turns: unknown, path: readonly (string | number)[]): readonly Rule[] {
  if (!Array.isArray(turns)) throw new ScriptFault(path, "must be a list of turns, each with a reply");
  return turns.map((turn: unknown, index) => {
    checkShape(turn, ruleShape, [...path, index]);
    const { expect = {}, reply } = turn as Partial<Rule>;
    const where = `turn ${index + 1}${path.length > 0 ? ` of ${path.at(-1)}` : ""}`;
    return { where, expect, reply: readReply(reply, [...path, index, "reply"]) };
  });
}

function play(workers: ReadonlyMap<string, readonly Rule[]>, request: ScriptedRequest): ScriptedReply {
  const rules = workers.get(request.worker) ?? workers.get("*");
  if (!rules) return request.unexpected(`a request of one of the workers ${[...workers.keys()].join(", ") || "(none)"}`);
  const rule = rules[request.turn - 1];
  if (!rule) return request.unexpected(`at most ${rules.length} turn${rules.length === 1 ? "" : "s"} of this worker`);
  const unmet = findUnmet(rule.expect, request);
  return unmet === undefined ? rule.reply : request.unexpected(`${unmet} (${rule.where})`);
}

/** Returns the first expectation that the request does not meet, in words. */
function findUnmet(
  { user, system, tool_result: results, tools, files }: Expectation,
  request: ScriptedRequest,
): string | undefined {
  const missing = (texts: Texts | undefined, isThere: (text: string) => boolean) =>
    [texts ?? []].flat().find((text) => !isThere(text));
  const said = missing(user, (text) => request.lastUserText().includes(text));
  if (said !== undefined) {
    const isInstruction = request.system.join("\n").includes(said);
    const hint = isInstruction ? "; the instructions have it, so expect it under `system`" : "";
    return `a user message with ${JSON.stringify(said)}${hint}`;
  }
  const instruction = missing(system, (text) => request.system.join("\n").includes(text));
  if (instruction !== undefined) return `a system message with ${JSON.stringify(instruction)}`;
  const result = missing(results, (name) => request.toolResults().some((part) => part.name === name));
  if (result !== undefined) return `a result of ${result}`;
  const tool = missing(tools, (name) => request.hasTool(name));
  if (tool !== undefined) return `the tool ${tool}`;
  return files !== undefined && files !== countFiles(request.messages) ? `${files} files` : undefined;
}
