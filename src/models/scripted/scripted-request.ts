import type { FilePart, Message, ToolResultPart } from "../../protocol/message.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { type GenerateOptions, ModelError, type ModelRequest } from "../model.ts";
import type { ScriptedRequest } from "./script.ts";

export function toScriptedRequest(model: string, request: ModelRequest, options: GenerateOptions): ScriptedRequest {
  const scripted: ScriptedRequest = {
    ...request,
    ...options.call,
    signal: options.signal,
    lastUserText: () => userTexts(request.messages).at(-1) ?? "",
    promptText: () => [...request.system, ...userTexts(request.messages)].join("\n"),
    toolResults: () => newToolResults(request.messages),
    files: () =>
      filesIn(request.messages).map(({ data, type: _, bytes: __, ...file }) => ({
        ...file,
        bytes: new Uint8Array(Buffer.from(data, "base64")),
      })),
    hasTool: (name) => request.tools.some((tool) => tool.name === name),
    hasServerTool: (type) => (request.serverTools ?? []).some((tool) => tool.type === type),
    unexpected: (expected) => {
      throw new ModelError({ code: "unexpected_request", model, message: describeUnexpected(model, scripted, expected) });
    },
  };
  return scripted;
}

function userTexts(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === "user" ? [message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")] : [],
  );
}

function newToolResults(messages: readonly Message[]): readonly ToolResultPart[] {
  const since = messages.findLastIndex((message) => message.role === "assistant") + 1;
  return messages.slice(since).flatMap((message) => (message.role === "tool" ? message.parts : []));
}

function filesIn(messages: readonly Message[]): readonly FilePart[] {
  return messages
    .flatMap((message) => (message.role === "user" ? message.parts : []))
    .filter((part): part is FilePart => part.type === "file");
}

/** Counts the files of a conversation without decoding them. */
export function countFiles(messages: readonly Message[]): number {
  return filesIn(messages).length;
}

function describeUnexpected(model: string, request: ScriptedRequest, expected: string): string {
  const results = request.toolResults().map((part) => part.name);
  return [
    `${model} got a request that it does not expect.`,
    `  worker:   ${request.worker}, turn ${request.turn} (${request.callPath})`,
    `  expected: ${expected}`,
    `  user:     ${JSON.stringify(clipText(request.lastUserText(), 200))}`,
    `  results:  ${results.join(", ") || "none"}`,
    `  files:    ${countFiles(request.messages)}`,
    `  tools:    ${request.tools.map((tool) => tool.name).join(", ") || "none"}`,
  ].join("\n");
}
