import { isRecord } from "../../protocol/json.ts";
import { readReply } from "./read-reply.ts";
import type { Script, ScriptedReply, ScriptedRequest } from "./script.ts";
import { type FieldKinds, readFields, ScriptFault } from "./script-fault.ts";
import { countFiles } from "./scripted-request.ts";

/** One turn of one worker's call. */
interface Rule {
  readonly where: string;
  readonly expect: Expectation;
  readonly reply: ScriptedReply;
}

interface Expectation {
  /** Substrings of the last user message. */
  readonly user?: string | readonly string[];
  /** Substrings of the system message's parts, joined by line breaks. */
  readonly system?: string | readonly string[];
  /** Tools whose results have just come. */
  readonly tool_result?: string | readonly string[];
  /** How many files the conversation holds. */
  readonly files?: number;
  /** Tools that are offered. */
  readonly tools?: string | readonly string[];
}

const expectFields: FieldKinds = {
  user: "strings",
  system: "strings",
  tool_result: "strings",
  files: "count",
  tools: "strings",
};

/**
 * Reads the rules of a YAML or JSON script: `workers: { main: [{ expect, reply }, …] }`, one rule a turn; `*` stands for
 * all workers without rules of their own, and a bare list is the list of `*`. Throws a `ScriptFault`.
 */
export function parseScriptRules(document: unknown): Script {
  const workers = new Map<string, readonly Rule[]>();
  if (Array.isArray(document)) workers.set("*", readRules(document, []));
  else {
    const fields = readFields(document, { workers: "record" }, []);
    if (!isRecord(fields["workers"])) throw new ScriptFault(["workers"], "is missing; it maps each worker to its turns");
    for (const [name, rules] of Object.entries(fields["workers"])) workers.set(name, readRules(rules, ["workers", name]));
  }
  return (request) => play(workers, request);
}

function readRules(value: unknown, path: readonly (string | number)[]): readonly Rule[] {
  if (!Array.isArray(value)) throw new ScriptFault(path, "must be a list of turns, each with a reply");
  return value.map((rule: unknown, index) => readRule(rule, [...path, index]));
}

function readRule(value: unknown, path: readonly (string | number)[]): Rule {
  const where = path.length > 1 ? `turn ${Number(path.at(-1)) + 1} of ${path.at(-2)}` : `turn ${Number(path[0]) + 1}`;
  const fields = readFields(value, { expect: "record", reply: "any" }, path);
  if (fields["reply"] === undefined || fields["reply"] === null) throw new ScriptFault([...path, "reply"], "is missing");
  const expect = readFields(fields["expect"] ?? {}, expectFields, [...path, "expect"]) as Expectation;
  return { where, expect, reply: readReply(fields["reply"], [...path, "reply"]) };
}

function play(workers: ReadonlyMap<string, readonly Rule[]>, request: ScriptedRequest): ScriptedReply {
  const rules = workers.get(request.worker) ?? workers.get("*");
  if (!rules) return request.unexpected(`a request of one of the workers ${[...workers.keys()].join(", ") || "(none)"}`);
  const rule = rules[request.turn - 1];
  if (!rule) return request.unexpected(`at most ${rules.length} turn${rules.length === 1 ? "" : "s"} of this worker`);
  const unmet = findUnmet(rule.expect, request);
  return unmet === undefined ? rule.reply : request.unexpected(`${unmet} (${rule.where})`);
}

/** The first thing that is expected and did not come. */
function findUnmet(expect: Expectation, request: ScriptedRequest): string | undefined {
  const results = request.toolResults();
  const system = request.system.join("\n");
  const user = toList(expect.user).find((text) => !request.lastUserText().includes(text));
  if (user !== undefined) return `a user message with ${JSON.stringify(user)}`;
  const instruction = toList(expect.system).find((text) => !system.includes(text));
  if (instruction !== undefined) return `a system message with ${JSON.stringify(instruction)}`;
  const result = toList(expect.tool_result).find((name) => !results.some((part) => part.name === name));
  if (result !== undefined) return `a result of ${result}`;
  const tool = toList(expect.tools).find((name) => !request.hasTool(name));
  if (tool !== undefined) return `the tool ${tool}`;
  if (expect.files !== undefined && expect.files !== countFiles(request.messages)) return `${expect.files} files`;
  return undefined;
}

function toList(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
