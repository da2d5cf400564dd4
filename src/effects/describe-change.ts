import { isRecord, type JsonObject } from "../protocol/json.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import type { RequestChanged } from "./policies/request-changed.ts";

/** Says what is different in a request: `main, turn 3: the instructions changed: "in English" was "in French"`. */
export function describeChange({ recorded, today }: Pick<RequestChanged, "recorded" | "today">): string {
  const { callPath, key, kind, detail } = today;
  if (kind !== "model") return `${callPath}: ${key} is not what was recorded`;
  const turn = String(detail["turn"]);
  return `${callPath}, turn ${turn}: ${recorded ? differenceOf(recorded.detail, detail) : "the record has no such request"}`;
}

/** A line of a worker's instructions, as the model gets it. */
export interface InstructionLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Finds the first line of today's instructions that is different; undefined if something else is. */
export function findChangedInstruction({
  recorded,
  today,
}: Pick<RequestChanged, "recorded" | "today">): InstructionLine | undefined {
  const [[before], [after]] = [textsOf(recorded?.detail["system"]), textsOf(today.detail["system"])];
  if (before === undefined || after === undefined || before === after) return undefined;
  const line = firstChange(before, after);
  return { line: line + 1, text: after.split("\n")[line] ?? "" };
}

function differenceOf(before: JsonObject, after: JsonObject): string {
  if (before["model"] !== after["model"]) return `the model was \`${before["model"]}\` and is \`${after["model"]}\``;
  const [[instructions, ...context], [now, ...contextNow]] = [textsOf(before["system"]), textsOf(after["system"])];
  if (instructions !== now) return `the instructions changed${wordsOf(instructions, now)}`;
  if (canonicalJson(context) !== canonicalJson(contextNow)) return "the context beside the instructions changed";
  return toolDifference(before["tools"], after["tools"]) ?? messageDifference(before, after);
}

function textsOf(system: unknown): readonly string[] {
  return Array.isArray(system) ? system.map(String) : [];
}

/** Quotes the first line that is different, as it is and as it was; nothing of a text that is not there. */
function wordsOf(before: string | undefined, after: string | undefined): string {
  if (before === undefined || after === undefined) return "";
  const [old, now] = [before.split("\n"), after.split("\n")];
  const line = firstChange(before, after);
  const [was = "", is = ""] = [old[line], now[line]];
  if (line >= old.length || (was.trim() !== "" && now.indexOf(was, line) > line))
    return `: ${quote(is)} was added${otherLines(old, now)}`;
  if (line >= now.length || (is.trim() !== "" && old.indexOf(is, line) > line))
    return `: ${quote(was)} was removed${otherLines(old, now)}`;
  const [differing, differed] = aroundDifference(is, was);
  return `: ${quote(differing)} was ${quote(differed)}${otherLines(old, now)}`;
}

/** Counts the lines that are different beside the one that is quoted. */
function otherLines(old: readonly string[], now: readonly string[]): string {
  const [before, after] = [new Set(old), new Set(now)];
  const changed = Math.max(old.filter((text) => !after.has(text)).length, now.filter((text) => !before.has(text)).length) - 1;
  return changed > 0 ? `, and ${changed} more ${changed === 1 ? "line" : "lines"}` : "";
}

function quote(text: string): string {
  return JSON.stringify(text.trim());
}

const longestQuote = 80;

/** Cuts two long lines to what is different, at spaces alone: half a word could be a part of a secret, which nothing would replace. */
function aroundDifference(one: string, other: string): readonly [string, string] {
  if (Math.max(one.length, other.length) <= longestQuote) return [one, other];
  const [words, others] = [one.split(" "), other.split(" ")];
  const most = Math.min(words.length, others.length);
  let start = 0;
  while (start < most && words[start] === others[start]) start++;
  let end = 0;
  while (end < most - start && words.at(-1 - end) === others.at(-1 - end)) end++;
  const [from, behind] = [Math.max(0, start - 2), Math.max(0, end - 2)];
  const cut = (all: readonly string[]) =>
    `${from > 0 ? "… " : ""}${all.slice(from, all.length - behind).join(" ")}${behind > 0 ? " …" : ""}`;
  return [cut(words), cut(others)];
}

/** From 0. */
function firstChange(before: string, after: string): number {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const line = now.findIndex((text, index) => text !== old[index]);
  return line < 0 ? now.length : line;
}

function toolDifference(before: unknown, after: unknown): string | undefined {
  const [old, now] = [byName(before), byName(after)];
  for (const [name, text] of now) {
    if (!old.has(name)) return `the tool \`${name}\` was added`;
    if (old.get(name) !== text) return `the description or the schema of the tool \`${name}\` changed`;
  }
  for (const name of old.keys()) if (!now.has(name)) return `the tool \`${name}\` was removed`;
  return undefined;
}

function byName(tools: unknown): ReadonlyMap<string, string> {
  const known = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return new Map(known.map((tool) => [String(tool["name"]), canonicalJson(tool)]));
}

const settings = { output: "output schema", settings: "model settings", serverTools: "server-side tools" };

function settingsDifference(before: JsonObject, after: JsonObject): string {
  const changed = Object.entries(settings).filter(
    ([name]) => canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null),
  );
  // A record of an earlier llm-do names neither output schema nor settings.
  const names = changed.length > 0 ? changed.map(([, words]) => words).join(" and the ") : "settings or the output schema";
  return `the ${names} changed`;
}

function messageDifference(before: JsonObject, after: JsonObject): string {
  const [old, now] = [before, after].map(({ messages }) => (Array.isArray(messages) ? messages : []));
  const index = now?.findIndex((message, at) => canonicalJson(message) !== canonicalJson(old?.[at] ?? null)) ?? -1;
  const message = now?.[index];
  if (!isRecord(message)) return settingsDifference(before, after);
  const [part, was] = [message, old?.[index]].map((one) => (isRecord(one) && Array.isArray(one["parts"]) ? one["parts"] : []));
  const at = part?.findIndex((one, place) => canonicalJson(one) !== canonicalJson(was?.[place] ?? null)) ?? 0;
  const [newPart, oldPart] = [part?.[at], was?.[at]];
  if (message["role"] === "tool") return resultDifference(oldPart, newPart, now?.[index - 1]);
  const [text, oldText] = [newPart, oldPart].map((one) =>
    isRecord(one) && typeof one["text"] === "string" ? one["text"] : undefined,
  );
  return `the prompt changed${wordsOf(oldText, text)}`;
}

/** Names the call by its arguments: an answer before the message of results has the calls. */
function resultDifference(before: unknown, after: unknown, answer: unknown): string {
  if (!isRecord(after)) return "the result of a call is different";
  const calls = isRecord(answer) && Array.isArray(answer["parts"]) ? answer["parts"].filter(isRecord) : [];
  const args = calls.find(({ type, id }) => type === "tool-call" && id === after["id"])?.["args"];
  const text = args === undefined ? "" : JSON.stringify(args);
  const shown = text === "" || text.length > longestQuote ? "" : ` ${text}`;
  const was = isRecord(before) && before["name"] === after["name"] ? before["result"] : undefined;
  return `the result of \`${String(after["name"])}${shown}\` is different${valueDifference(was, after["result"])}`;
}

/** Finds the first text or value in two results that is different. Empty if there was no result. */
function valueDifference(before: unknown, after: unknown): string {
  if (before === undefined || after === undefined) return "";
  if (typeof before === "string" && typeof after === "string") return wordsOf(before, after);
  if (isRecord(before) && isRecord(after)) {
    const key = Object.keys(after).find((name) => canonicalJson(after[name]) !== canonicalJson(before[name] ?? null));
    return key === undefined ? "" : valueDifference(before[key], after[key]);
  }
  return wordsOf(JSON.stringify(before), JSON.stringify(after));
}
