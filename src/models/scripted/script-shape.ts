import { isRecord } from "../../protocol/json.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { retryableByCode } from "../model.ts";
import type { ScriptedReply } from "./script.ts";

type Path = readonly (string | number)[];

/** A mistake in a script, with its place in it. */
export class ScriptFault extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(path.length > 0 ? `${renderPath(path)}: ${message}` : message);
    this.name = "ScriptFault";
    this.path = path;
  }
}

function renderPath(path: Path): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index > 0 ? `.${key}` : key)).join("");
}

/** The shape of one place in a script: a value, a mapping with known keys, or a list of such mappings. */
export type Shape =
  | { readonly is: (value: unknown) => boolean; readonly must: string; readonly isRequired?: boolean }
  | { readonly keys: Readonly<Record<string, Shape>>; readonly isList?: boolean };

export const any: Shape = { is: () => true, must: "" };
export const text: Shape = { is: (value) => typeof value === "string", must: "must be a text" };
export const count: Shape = {
  is: (value) => Number.isInteger(value) && (value as number) >= 0,
  must: "must be a whole number from 0",
};
const flag: Shape = { is: (value) => typeof value === "boolean", must: "must be true or false" };

function nameOf(what: string): Shape {
  return { is: (value) => typeof value === "string" && value !== "", must: `must name ${what}`, isRequired: true };
}

function oneOf(values: readonly string[], isRequired = false): Shape {
  return { is: (value) => values.includes(String(value)), must: `must be one of ${values.join(", ")}`, isRequired };
}

/** Throws a `ScriptFault` for a value of another shape. Keys that are `undefined` count as absent. */
export function checkShape(value: unknown, shape: Shape, path: Path): void {
  if ("is" in shape) {
    if (!shape.is(value)) throw new ScriptFault(path, shape.must);
  } else if (shape.isList) {
    if (!Array.isArray(value)) throw new ScriptFault(path, "must be a list");
    for (const [index, item] of value.entries()) checkShape(item, { keys: shape.keys }, [...path, index]);
  } else checkKeys(value, shape.keys, path);
}

function checkKeys(value: unknown, keys: Readonly<Record<string, Shape>>, path: Path): void {
  if (!isRecord(value)) throw new ScriptFault(path, "must be a mapping");
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const shape = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (!shape)
      throw new ScriptFault([...path, key], `\`${clipText(key, 40)}\` is no key here; ${noteOnKey(key, Object.keys(keys))}`);
    checkShape(member, shape, [...path, key]);
  }
  for (const [key, shape] of Object.entries(keys)) {
    if ("is" in shape && shape.isRequired && value[key] === undefined) throw new ScriptFault([...path, key], shape.must);
  }
}

/** Names of these keys in similar formats. */
const otherNames: Readonly<Record<string, string>> = { name: "tool", arguments: "args", input: "args", tool_calls: "calls" };

function noteOnKey(key: string, known: readonly string[]): string {
  const other = getOwn(otherNames, key);
  if (other !== undefined && known.includes(other)) return `did you mean \`${other}\`?`;
  return didYouMean(key, known) ?? `the keys are ${quoteNames(known)}`;
}

const replyShape: Shape = {
  keys: {
    text,
    json: any,
    reasoning: text,
    calls: { isList: true, keys: { tool: nameOf("a tool"), args: any, invalidArgs: text, allowUnknownTool: flag } },
    serverCalls: { isList: true, keys: { tool: nameOf("a server-side tool"), args: any, result: any, error: text } },
    files: { isList: true, keys: { name: nameOf("the file"), mediaType: text, text, base64: text } },
    usage: {
      keys: {
        requests: count,
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count,
        reasoningTokens: count,
        cacheWriteTokens: count,
      },
    },
    finish: oneOf(["stop", "tool-calls", "length", "context-window", "content-filter", "paused", "other"]),
    error: {
      keys: {
        code: oneOf(Object.keys(retryableByCode), true),
        message: text,
        status: count,
        retryable: flag,
        retryAfterMilliseconds: count,
      },
    },
  },
};

/** Checks what a script answered. Throws a `ScriptFault`. */
export function readReply(value: unknown, path: Path): ScriptedReply {
  if (typeof value === "string") return { text: value };
  checkShape(value, replyShape, path);
  const reply = value as ScriptedReply;
  if (reply.text !== undefined && reply.json !== undefined) throw new ScriptFault(path, "has both text and json");
  for (const [index, { args, invalidArgs }] of (reply.calls ?? []).entries()) {
    if (args !== undefined && invalidArgs !== undefined) {
      throw new ScriptFault([...path, "calls", index], "has both args and invalidArgs");
    }
  }
  if (Object.keys(reply).every((key) => key === "usage" || key === "finish")) {
    throw new ScriptFault(path, "says nothing; give one of text, json, reasoning, calls, serverCalls, files, error");
  }
  return reply;
}
