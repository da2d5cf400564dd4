import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair, Body, EventRepair } from "./answer-repair.ts";

/**
 * The Messages API can get new events, deltas and blocks within one version; its library knows those below. Blocks of remote
 * MCP servers are none of them: no request of ours names such a server.
 */
const events: ReadonlySet<unknown> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);

const deltas: ReadonlySet<unknown> = new Set([
  "text_delta",
  "thinking_delta",
  "signature_delta",
  "input_json_delta",
  "citations_delta",
  "compaction_delta",
]);

const blocks: ReadonlySet<unknown> = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "compaction",
  "tool_use",
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "advisor_tool_result",
]);

export const anthropicRepair: AnswerRepair = { body: repairBody, events: createEventRepair };

function repairBody(body: Body): Body {
  const { content } = body;
  if (!Array.isArray(content)) return body;
  const known = content.filter((block: unknown) => isRecord(block) && blocks.has(block["type"]));
  return known.length === content.length ? body : { ...body, content: known };
}

function createEventRepair(): EventRepair {
  const passedOver = new Set<unknown>();
  const openCalls = new Set<unknown>();
  return {
    event(event) {
      const { type, index, content_block: block, delta } = event;
      if (!events.has(type)) return undefined;
      if (type === "content_block_start" && isRecord(block) && block["type"] === "tool_use") openCalls.add(index);
      if (type === "content_block_stop") openCalls.delete(index);
      // The library leaves out a call whose block does not end.
      if (type === "message_delta" && isRecord(delta) && openCalls.size > 0) {
        return { ...event, delta: { ...delta, stop_reason: "unfinished_call" } };
      }
      if (type === "content_block_start" && isRecord(block)) {
        if (blocks.has(block["type"])) passedOver.delete(index);
        else passedOver.add(index);
      }
      const isOfBlock = type === "content_block_start" || type === "content_block_delta" || type === "content_block_stop";
      if (isOfBlock && passedOver.has(index)) return undefined;
      return type === "content_block_delta" && isRecord(delta) && !deltas.has(delta["type"]) ? undefined : event;
    },
  };
}
