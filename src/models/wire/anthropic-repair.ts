import { isRecord, recordsIn } from "../../protocol/json.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

/**
 * The Messages API can get new events, deltas and blocks within one version; its library knows those below. Blocks of remote
 * MCP servers are left out: no request of llm-do names such a server.
 */
const events = namesIn(
  "message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping error",
);
const deltas = namesIn("text_delta thinking_delta signature_delta input_json_delta citations_delta compaction_delta");
const blocks = namesIn(
  "text thinking redacted_thinking compaction tool_use server_tool_use web_search_tool_result web_fetch_tool_result " +
    "code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result " +
    "tool_search_tool_result advisor_tool_result",
);

function namesIn(text: string): ReadonlySet<unknown> {
  return new Set(text.split(" "));
}

export const anthropicRepair: AnswerRepair = {
  body(body) {
    if (!Array.isArray(body["content"])) return;
    body["content"] = recordsIn(body["content"]).filter(({ type }) => blocks.has(type));
  },
  events() {
    const dropped = new Set<unknown>();
    const openCalls = new Set<unknown>();
    return {
      event({ type, index, content_block: block, delta }) {
        if (type === "content_block_start" && isRecord(block)) {
          if (blocks.has(block["type"])) dropped.delete(index);
          else dropped.add(index);
          if (block["type"] === "tool_use") openCalls.add(index);
        }
        if (type === "content_block_stop") openCalls.delete(index);
        // The library omits a call whose block does not end.
        if (type === "message_delta" && isRecord(delta) && openCalls.size > 0) delta["stop_reason"] = "unfinished_call";
        if (type === "content_block_delta" && isRecord(delta) && !deltas.has(delta["type"])) return false;
        return events.has(type) && !(String(type).startsWith("content_block_") && dropped.has(index));
      },
      textOf,
    };
  },
  asEvents({ content, stop_reason, stop_sequence, stop_details, usage, ...message }) {
    return [
      { type: "message_start", message: { ...message, content: [], usage } },
      ...recordsIn(content).flatMap(blockEvents),
      { type: "message_delta", delta: { stop_reason, stop_sequence, stop_details }, usage },
      { type: "message_stop" },
    ];
  },
};

/** The library reads texts, thoughts and arguments from deltas alone, and other blocks from their start. */
function blockEvents(block: Body, index: number): readonly Body[] {
  const { type, text, thinking, signature, input } = block;
  const deltas: Readonly<Record<string, readonly Body[]>> = {
    text: [{ type: "text_delta", text }],
    thinking: [{ type: "thinking_delta", thinking }, ...(signature ? [{ type: "signature_delta", signature }] : [])],
    tool_use: [{ type: "input_json_delta", partial_json: JSON.stringify(input ?? {}) }],
    server_tool_use: [{ type: "input_json_delta", partial_json: JSON.stringify(input ?? {}) }],
  };
  const empty = {
    ...block,
    ...(type === "text" ? { text: "" } : type === "thinking" ? { thinking: "" } : {}),
    ...("input" in block ? { input: {} } : {}),
  };
  return [
    { type: "content_block_start", index, content_block: empty },
    ...(deltas[String(type)] ?? []).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

const texts: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "partial_json"],
]);

function textOf({ type, index, delta }: Body): AddedText | undefined {
  if (type !== "content_block_delta" || !isRecord(delta)) return undefined;
  const member = texts.get(delta["type"]);
  return member !== undefined && typeof delta[member] === "string" ? { holder: delta, member, part: index } : undefined;
}
