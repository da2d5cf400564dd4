import { childCallPath } from "../../protocol/call.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { isRecord } from "../../protocol/json.ts";
import type { AssistantMessage, FilePart, ServerResultPart, ToolResult } from "../../protocol/message.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { CallConfig, CallFrame } from "../config.ts";

/** Characters of one text in what is told of a provider's call: pages and files are in the journal. */
const longestText = 2000;

/** Tells what the provider did itself in an answer, and keeps the files that it made. */
export function reportServerParts(call: CallConfig, frame: CallFrame, { parts }: AssistantMessage): void {
  const { run, callPath, depth } = call;
  for (const [index, part] of parts.entries()) {
    if (part.type === "file") keepFile(call, part, `artifact ${frame.turn}.${index}`);
    if (part.type === "server-call") {
      const path = childCallPath(callPath, frame.toolCalls++, part.name);
      frame.serverCalls.set(part.id, path);
      run.emit(
        { callPath: path, depth },
        { type: "tool-call", tool: part.name, args: clipTexts(part.args), executedBy: "provider" },
      );
    }
    if (part.type === "server-result") {
      const place = { callPath: frame.serverCalls.get(part.id) ?? callPath, depth };
      const result = toResult(part);
      run.emit(place, { type: "tool-result", tool: part.name, result, milliseconds: 0, executedBy: "provider" });
    }
  }
}

/** A name depends on what runs beside the call, so that it is a decision: recorded, and taken from the record. */
function keepFile({ run, callPath }: CallConfig, file: FilePart, key: string): void {
  const { name } = run.effects.decideOnce(
    "artifact",
    { callPath, key },
    { decide: () => ({ name: run.artifacts.nameFor(file), sha256: file.sha256 }) },
  );
  run.artifacts.add(callPath, file, name);
}

function toResult({ ok, value }: ServerResultPart): ToolResult {
  if (ok) return { ok, value: clipTexts(value) };
  const error = typeof value === "string" ? value : JSON.stringify(value);
  return { ok, error: { type: "tool_failed", error: clipText(error, longestText) } };
}

function clipTexts(value: JsonValue): JsonValue {
  if (typeof value === "string") return clipText(value, longestText);
  if (Array.isArray(value)) return value.map((item: JsonValue) => clipTexts(item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clipTexts(member as JsonValue)])) as JsonObject;
}
