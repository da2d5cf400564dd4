import type { ModelErrorCode } from "../model.ts";
import { retryableByCode } from "../model-error-codes.ts";
import type { ScriptedCall, ScriptedError, ScriptedReply } from "./script.ts";
import { type FieldKinds, readFields, ScriptFault } from "./script-fault.ts";

type Path = readonly (string | number)[];

const replyFields: FieldKinds = {
  text: "string",
  json: "any",
  reasoning: "string",
  calls: "list",
  serverCalls: "list",
  files: "list",
  usage: "record",
  finish: "string",
  error: "record",
};
const callFields: FieldKinds = { tool: "string", args: "any", invalidArgs: "string", allowUnknownTool: "boolean" };
const serverCallFields: FieldKinds = { tool: "string", args: "any", result: "any", error: "string" };
const fileFields: FieldKinds = { name: "string", mediaType: "string", text: "string", base64: "string" };
const usageFields: FieldKinds = {
  requests: "count",
  inputTokens: "count",
  outputTokens: "count",
  cachedInputTokens: "count",
  reasoningTokens: "count",
  cacheWriteTokens: "count",
};
const errorFields: FieldKinds = {
  code: "string",
  message: "string",
  status: "count",
  retryable: "boolean",
  retryAfterMilliseconds: "count",
};
const finishes = ["stop", "tool-calls", "length", "context-window", "content-filter", "paused", "other"];

/** Checks what a script answered. Throws a `ScriptFault` that says where it is wrong. */
export function readReply(value: unknown, path: Path): ScriptedReply {
  if (typeof value === "string") return { text: value };
  const reply = readFields(value, replyFields, path) as ScriptedReply;
  if (reply.text !== undefined && reply.json !== undefined) throw new ScriptFault(path, "has both text and json");
  if (reply.finish !== undefined && !finishes.includes(reply.finish)) {
    throw new ScriptFault([...path, "finish"], `must be one of ${finishes.join(", ")}`);
  }
  if (reply.usage) readFields(reply.usage, usageFields, [...path, "usage"]);
  if (reply.error) checkError(reply.error, [...path, "error"]);
  reply.calls?.forEach((call, index) => {
    checkCall(call, [...path, "calls", index]);
  });
  reply.serverCalls?.forEach((call, index) => {
    const at = [...path, "serverCalls", index];
    if (!readFields(call, serverCallFields, at)["tool"]) throw new ScriptFault([...at, "tool"], "must name a server-side tool");
  });
  reply.files?.forEach((file, index) => {
    const at = [...path, "files", index];
    if (!readFields(file, fileFields, at)["name"]) throw new ScriptFault([...at, "name"], "must name the file");
  });
  if (Object.keys(reply).every((key) => key === "usage" || key === "finish")) {
    throw new ScriptFault(path, "says nothing; give one of text, json, reasoning, calls, serverCalls, files, error");
  }
  return reply;
}

function checkCall(value: unknown, path: Path): void {
  const call = readFields(value, callFields, path) as Partial<ScriptedCall>;
  if (!call.tool) throw new ScriptFault([...path, "tool"], "must name a tool");
  if (call.args !== undefined && call.invalidArgs !== undefined) throw new ScriptFault(path, "has both args and invalidArgs");
}

function checkError(value: unknown, path: Path): void {
  const { code } = readFields(value, errorFields, path) as Partial<ScriptedError>;
  const codes = Object.keys(retryableByCode) as ModelErrorCode[];
  if (!code || !codes.includes(code)) throw new ScriptFault([...path, "code"], `must be one of ${codes.join(", ")}`);
}
