import type { AssistantMessage, FilePart, ReasoningPart, TextPart, ToolCallPart } from "../../protocol/message.ts";
import { noUsage } from "../../protocol/usage.ts";
import { abortable } from "../../util/async/abortable.ts";
import { copyJson } from "../../util/json/plain-json.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { madeFile } from "../library/made-file.ts";
import { type GenerateOptions, type Model, ModelError, type ModelResponse, retryableByCode } from "../model.ts";
import type { Script, ScriptedCall, ScriptedReply, ScriptedRequest, ScriptedServerCall } from "./script.ts";
import { readReply, ScriptFault } from "./script-shape.ts";
import { toScriptedRequest } from "./scripted-request.ts";

/** A model that a script plays. `observe` sees each request before the script does. */
export function createScriptedModel(id: string, script: Script, observe?: (request: ScriptedRequest) => void): Model {
  return {
    id,
    async generate(request, options) {
      options.signal.throwIfAborted();
      const scripted = toScriptedRequest(id, request, options);
      observe?.(scripted);
      const reply = await abortable(answer(id, script, scripted), options.signal);
      const response = toResponse(reply, scripted);
      await streamParts(response.message, options);
      if (reply.error) throw toModelError(id, reply.error);
      return response;
    },
  };
}

async function answer(id: string, script: Script, request: ScriptedRequest): Promise<ScriptedReply> {
  try {
    const value = await script(request);
    if (value === undefined || value === null) return request.unexpected("nothing: the script gave no reply");
    return readReply(value, ["reply"]);
  } catch (error) {
    if (error instanceof ModelError || request.signal.aborted) throw error;
    const what = error instanceof ScriptFault ? "answers wrongly" : "threw";
    const where = `worker ${request.worker}, turn ${request.turn}`;
    const message = `${id} ${what} (${where}): ${errorMessage(error)}`;
    throw new ModelError({ code: "unexpected_request", model: id, message, cause: error });
  }
}

function toResponse(reply: ScriptedReply, request: ScriptedRequest): ModelResponse {
  const text = reply.json === undefined ? reply.text : JSON.stringify(reply.json);
  const calls = toCallParts(reply.calls ?? [], request);
  const parts = [
    ...(reply.reasoning ? [{ type: "reasoning", text: reply.reasoning } satisfies ReasoningPart] : []),
    ...toServerParts(reply.serverCalls ?? [], request),
    ...(text ? [{ type: "text", text } satisfies TextPart] : []),
    ...calls,
    ...(reply.files ?? []).map(({ name, mediaType, text = "", base64 }): FilePart => {
      return madeFile(name, mediaType, base64 === undefined ? Buffer.from(text) : Buffer.from(base64, "base64"));
    }),
  ];
  return {
    message: { role: "assistant", parts },
    usage: { ...noUsage, requests: 1, ...reply.usage },
    finish: reply.finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
  };
}

/** Ids go on through the conversation, so that they are unique in it and the same in every replay. */
function toCallParts(calls: readonly ScriptedCall[], request: ScriptedRequest): ToolCallPart[] {
  const unknown = calls.find((call) => !call.allowUnknownTool && !request.hasTool(call.tool));
  if (unknown) {
    const near = didYouMean(
      unknown.tool,
      request.tools.map(({ name }) => name),
    );
    const hint = near === undefined ? "" : `; ${near}`;
    request.unexpected(`the tool ${unknown.tool} among those offered, because the script calls it${hint}`);
  }
  const before = countParts(request, "tool-call");
  return calls.map((call, index) => ({
    type: "tool-call",
    id: `call_${before + index + 1}`,
    name: call.tool,
    ...(call.invalidArgs === undefined ? { args: copyJson(call.args ?? {}) } : { args: null, invalidArgs: call.invalidArgs }),
  }));
}

/** Calls of the provider with their results. A call of a tool that is not enabled is a mistake in the script. */
function toServerParts(calls: readonly ScriptedServerCall[], request: ScriptedRequest): AssistantMessage["parts"] {
  const unknown = calls.find((call) => !request.hasServerTool(call.tool));
  if (unknown) request.unexpected(`the server-side tool ${unknown.tool} enabled, because the script uses it`);
  const before = countParts(request, "server-call");
  return calls.flatMap(({ tool: name, args = {}, result = null, error }, index) => {
    const id = `server_${before + index + 1}`;
    return [
      { type: "server-call", id, name, args: copyJson(args) },
      { type: "server-result", id, name, ok: error === undefined, value: copyJson(error ?? result) },
    ];
  });
}

function countParts({ messages }: ScriptedRequest, type: "tool-call" | "server-call"): number {
  const parts = messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  return parts.filter((part) => part.type === type).length;
}

async function streamParts(message: AssistantMessage, options: GenerateOptions): Promise<void> {
  if (!options.onDelta) return;
  for (const part of message.parts) {
    if (part.type !== "text" && part.type !== "reasoning") continue;
    const type = part.type === "text" ? "text-delta" : "reasoning-delta";
    for (const text of pieces(part.text)) {
      options.onDelta({ type, text });
      await Promise.resolve();
      options.signal.throwIfAborted();
    }
  }
}

/** Three or so pieces, none of which ends inside a character. */
function pieces(text: string): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(""));
}

function toModelError(model: string, error: NonNullable<ScriptedReply["error"]>): ModelError {
  return new ModelError({
    code: error.code,
    model,
    message: error.message ?? `${model} fails with ${error.code}, as its script says`,
    status: error.status,
    retryable: error.retryable ?? retryableByCode[error.code],
    retryAfterMilliseconds: error.retryAfterMilliseconds,
  });
}
