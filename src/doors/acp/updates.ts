import type { ContentBlock, SessionUpdate, ToolCallContent, ToolKind } from "@agentclientprotocol/sdk";
import type { Preview } from "../../protocol/approval.ts";
import type { RunEvent } from "../../protocol/event.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Artifact, Message } from "../../protocol/message.ts";
import { renderEvent } from "../../ui/headless/render-event.ts";
import { renderResult } from "../../ui/render-result.ts";
import { callLabel } from "../../ui/text/call-label.ts";
import { escapeText } from "../../util/text/escape-text.ts";

/** Characters of a tool's result that a client gets. */
const longestResult = 4000;
/** Characters of base64 of a file that came of a run. */
const longestFile = 4_000_000;

const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_files: "read",
  search_files: "search",
  write_file: "edit",
  edit_file: "edit",
  append_file: "edit",
  delete_file: "delete",
  move_file: "move",
  shell: "execute",
};

export function kindOf(tool: string): ToolKind {
  return kinds[tool] ?? "other";
}

/** The id of a call in a session, in which each message is a run of its own. */
export function callIdOf({ runId, callPath }: Pick<RunEvent, "runId" | "callPath">): string {
  return `${runId}/${callPath}`;
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Renders a preview of a file as a diff, which editors draw. */
export function diffOf(preview: Preview | undefined, toHostPath: (path: string) => string): ToolCallContent[] {
  if (preview?.type !== "diff" && preview?.type !== "new-file") return [];
  const path = escapeText(toHostPath(preview.path), { keepBackslashes: true });
  if (preview.type === "new-file") return [{ type: "diff", path, newText: preview.content }];
  return [{ type: "diff", path, oldText: preview.before, newText: preview.after }];
}

/** Turns an event of a run into what a client shows of it; undefined for events that it does not show. */
export function toUpdate(event: RunEvent): SessionUpdate | undefined {
  const { callPath, depth } = event;
  const toolCallId = callIdOf(event);
  const title = callLabel(callPath);
  switch (event.type) {
    case "text-delta":
      return depth === 0 ? chunk("agent_message_chunk", event.text) : undefined;
    case "reasoning-delta":
      return depth === 0 ? chunk("agent_thought_chunk", event.text) : undefined;
    case "retry":
      return event.afterOutput ? chunk("agent_message_chunk", "\n\n(The answer begins anew.)\n\n") : undefined;
    case "tool-call":
      return {
        sessionUpdate: "tool_call",
        ...{ toolCallId, title, kind: kindOf(event.tool), status: "in_progress", rawInput: event.args },
      };
    case "tool-result": {
      const text = renderResult(event.result as unknown as JsonValue, longestResult);
      const status = event.result.ok ? "completed" : "failed";
      return { sessionUpdate: "tool_call_update", toolCallId, status, content: [textContent(text)] };
    }
    case "call-start":
      return event.kind === "worker" && depth > 0
        ? { sessionUpdate: "tool_call_update", toolCallId, title: `${title}: ${event.name}` }
        : undefined;
    case "limit":
    case "warning":
      return chunk("agent_thought_chunk", `${renderEvent(event) ?? ""}\n`);
    default:
      return undefined;
  }
}

/** The texts of a recorded conversation, as a client shows them when it is loaded. */
export function* toHistory(messages: readonly Message[]): Iterable<SessionUpdate> {
  for (const { role, parts } of messages) {
    if (role === "tool") continue;
    for (const part of parts)
      if (part.type === "text") yield chunk(role === "user" ? "user_message_chunk" : "agent_message_chunk", part.text);
  }
}

/** A file that came of a run: what an editor draws or plays, and others as they are. */
export function fileChunk({ name, mediaType, bytes, data }: Artifact): SessionUpdate {
  if (data.length > longestFile) return chunk("agent_message_chunk", `\n\n(${name}, ${bytes} bytes, is too large to be sent)`);
  const [kind] = mediaType.split("/");
  const uri = `llm-do:///${encodeURIComponent(name)}`;
  const content: ContentBlock =
    kind === "image" || kind === "audio"
      ? { type: kind, data, mimeType: mediaType }
      : { type: "resource", resource: { uri, mimeType: mediaType, blob: data } };
  return { sessionUpdate: "agent_message_chunk", content };
}

export function chunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
