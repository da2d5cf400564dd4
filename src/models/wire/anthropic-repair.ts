import { isRecord, recordsIn } from "../../protocol/json.ts";
import { count, kept, kinds, list, type Members, oneOf, or, parts, record, text, unread } from "./fit.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

const cited = (members: Members, ...needed: string[]) => record({ cited_text: or(text, ""), ...members }, needed);
const document = { document_index: count, document_title: or(text, null), file_id: or(text, null) };
const from = (kind: string): Members => ({ [`start_${kind}`]: or(count, 0), [`end_${kind}`]: or(count, 0) });

const citation = kinds({
  web_search_result_location: cited({ url: text, title: or(text, null), encrypted_index: or(text, "") }, "url"),
  page_location: cited({ ...document, ...from("page_number") }, "document_index"),
  char_location: cited({ ...document, ...from("char_index") }, "document_index"),
  content_block_location: cited({ ...document, ...from("block_index") }, "document_index"),
  search_result_location: cited(
    { search_result_index: or(count, 0), source: text, title: or(text, null), ...from("block_index") },
    "source",
  ),
});

const found = record({ url: text, title: or(text, null), encrypted_content: text, page_age: text }, ["url", "encrypted_content"]);
const failedSearch = { type: "web_search_tool_result_error", error_code: "unavailable" };
const search = (content: unknown) =>
  list(kinds({ web_search_result: found }))(content) ??
  record({ type: oneOf(failedSearch.type), error_code: text }, ["type", "error_code"])(content);

/**
 * The Messages API can get new events, deltas and blocks within one version; its library knows those below. Blocks of remote
 * MCP servers are left out: no request of llm-do names such a server.
 */
const blocks = kinds({
  text: record({ citations: list(citation) }),
  thinking: record({ thinking: or(text, ""), signature: or(text, "") }),
  ...{ redacted_thinking: kept, compaction: kept, tool_use: kept, server_tool_use: kept },
  web_search_tool_result: record({ tool_use_id: text, content: or(search, failedSearch) }, ["tool_use_id"]),
  ...{ web_fetch_tool_result: kept, code_execution_tool_result: kept, bash_code_execution_tool_result: kept },
  ...{ text_editor_code_execution_tool_result: kept, tool_search_tool_result: kept, advisor_tool_result: kept },
});

const iteration = record(
  {
    type: oneOf("compaction", "message", "advisor_message", "fallback_message"),
    model: text,
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  },
  ["type", "input_tokens", "output_tokens"],
);
const usage = record({ service_tier: text, iterations: list(iteration) });
const end: Members = {
  stop_sequence: text,
  stop_details: record({ type: text, category: text, explanation: text, recommended_model: text }, ["type"]),
  container: record({ id: text, expires_at: or(text, ""), skills: unread }, ["id"]),
  safeguard_results: unread,
};
const about: Members = {
  id: text,
  model: text,
  role: text,
  service_tier: text,
  usage,
  context_management: unread,
  input_transformations: unread,
};
const message = record({ ...about, ...end, content: parts(blocks) });
const start = record({ ...about, ...end, content: unread });

const delta = kinds({
  ...{ text_delta: kept, signature_delta: kept, input_json_delta: kept, compaction_delta: kept },
  thinking_delta: record({ thinking: text }, ["thinking"]),
  citations_delta: record({ citation }, ["citation"]),
});

/** Undefined for an event that is unknown, or says nothing that is known. */
const events = kinds({
  ...{ content_block_stop: kept, message_stop: kept, ping: kept, error: kept },
  message_start: record({ message: or(start, { type: "message" }) }),
  content_block_start: record({ content_block: blocks }, ["content_block"]),
  content_block_delta: record({ delta }, ["delta"]),
  message_delta: record({ delta: record(end), usage, context_management: unread, input_transformations: unread }),
});

export const anthropicRepair: AnswerRepair = {
  body: (body) => void message(body),
  events() {
    const dropped = new Set<unknown>();
    const openCalls = new Set<unknown>();
    return {
      event(event) {
        const { type, index, content_block: block, delta: change } = event;
        const isKnown = events(event) !== undefined;
        if (type === "content_block_start") {
          if (isKnown) dropped.delete(index);
          else dropped.add(index);
          if (isRecord(block) && block["type"] === "tool_use") openCalls.add(index);
        }
        if (type === "content_block_stop") openCalls.delete(index);
        // The library omits a call whose block does not end.
        if (type === "message_delta" && isRecord(change) && openCalls.size > 0) change["stop_reason"] = "unfinished_call";
        return isKnown && !(String(type).startsWith("content_block_") && dropped.has(index));
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
  const { type, thinking, signature, input } = block;
  const deltas: Readonly<Record<string, readonly Body[]>> = {
    text: [{ type: "text_delta", text: block["text"] }],
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
