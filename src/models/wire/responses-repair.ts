import { isRecord, recordsIn } from "../../protocol/json.ts";
import { count, kept, kinds, list, type Members, oneOf, or, parts, record, text, unread } from "./fit.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

const span: Members = { start_index: or(count, 0), end_index: or(count, 0) };
const annotation = kinds({
  url_citation: record({ url: text, title: or(text, ""), ...span }, ["url"]),
  file_citation: record({ file_id: text, filename: or(text, ""), index: or(count, 0) }, ["file_id"]),
  container_file_citation: record({ container_id: text, file_id: text, filename: or(text, ""), ...span }, [
    "container_id",
    "file_id",
  ]),
  file_path: record({ file_id: text, index: or(count, 0) }, ["file_id"]),
});
const outputText = record({ annotations: or(list(annotation), []), logprobs: unread });

const action = kinds({
  search: record({
    ...{ query: text, queries: list(text) },
    sources: list(kinds({ url: record({ url: text }, ["url"]), api: record({ name: text }, ["name"]) })),
  }),
  open_page: record({ url: text }),
  find_in_page: record({ url: text, pattern: text }),
});
const outputs = list(kinds({ logs: record({ logs: text }, ["logs"]), image: record({ url: text }, ["url"]) }));
const status = or(oneOf("in_progress", "completed", "incomplete"), "completed");

/** Items that the libraries know. They reject others. */
const item = kinds({
  message: record({
    ...{ role: or(oneOf("assistant"), "assistant"), status: or(text, "completed"), phase: oneOf("commentary", "final_answer") },
    content: parts(kinds({ output_text: outputText, refusal: kept })),
  }),
  reasoning: record({
    encrypted_content: text,
    status: or(text, "completed"),
    summary: or(list(kinds({ summary_text: record({ text }, ["text"]) })), []),
  }),
  function_call: record({ status, arguments: (given) => (typeof given === "string" ? given : JSON.stringify(given ?? {})) }),
  web_search_call: record({ status: or(text, "completed"), action }),
  code_interpreter_call: record({
    status: or(text, "completed"),
    code: or(text, null),
    container_id: or(text, ""),
    outputs: or(outputs, null),
  }),
  ...{ compaction: kept, custom_tool_call: kept, file_search_call: kept, image_generation_call: kept, apply_patch_call: kept },
  ...{ shell_call: kept, shell_call_output: kept, tool_search_call: kept, tool_search_output: kept },
});

const counts = record({ cached_tokens: count, cache_write_tokens: count, reasoning_tokens: count });
const about: Members = {
  ...{ id: or(text, "response"), object: or(text, "response"), model: or(text, ""), created_at: or(count, 0), status: text },
  ...{ service_tier: text, reasoning: record({ context: text }), prompt_cache_diagnostics: unread },
  incomplete_details: record({ reason: text }, ["reason"]),
  usage: record({
    total_tokens: count,
    num_server_side_tools_used: count,
    num_sources_used: count,
    cost_in_usd_ticks: count,
    input_tokens_details: counts,
    output_tokens_details: counts,
  }),
};
const begun = record({ ...about, output: () => [] });
const ended = (status: string) => record({ ...about, status: or(text, status), output: parts(item) });
const whole = ended("completed");

/** Events of which something is read; a library rejects what it does not know. */
const events = kinds({
  "response.created": record({
    response: or(begun, { id: "response", object: "response", model: "", created_at: 0, output: [] }),
  }),
  "response.output_item.added": record({ item }, ["item"]),
  "response.output_item.done": record({ item }, ["item"]),
  "response.output_text.delta": record({ logprobs: unread, content_index: or(count, 0) }),
  "response.output_text.annotation.added": record({ annotation, content_index: or(count, 0), annotation_index: or(count, 0) }, [
    "annotation",
  ]),
  ...Object.fromEntries(
    [
      "refusal.delta",
      "refusal.done",
      "reasoning_summary_part.added",
      "reasoning_summary_part.done",
      "reasoning_summary_text.delta",
      "reasoning_text.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "custom_tool_call_input.delta",
      ...["code_interpreter_call_code.delta", "code_interpreter_call_code.done", "failed"],
    ].map((name) => [`response.${name}`, kept]),
  ),
  "response.completed": record({ response: whole }),
  "response.incomplete": record({ response: ended("incomplete") }),
  "response.done": record({ response: whole }),
  error: kept,
});

export const responsesRepair: AnswerRepair = {
  body(body) {
    const ending = readEnding(recordsIn(body["output"]));
    whole(body);
    recordsIn(body["output"]).forEach(nameItem);
    markEnding(body, ending);
  },
  events() {
    const done: Body[] = [];
    const openCalls = new Set<unknown>();
    return {
      event(event) {
        if (events(event) === undefined) return false;
        const { type, item: given, output_index: index, response } = event;
        if (isRecord(given)) {
          nameItem(given, Number(index));
          if (type === "response.output_item.added" && given["type"] === "function_call") openCalls.add(index);
          if (type === "response.output_item.done") {
            openCalls.delete(index);
            done.push(given);
          }
        }
        if (isRecord(response) && (type === "response.completed" || type === "response.incomplete")) {
          recordsIn(response["output"]).forEach(nameItem);
          const ending = readEnding([...done, ...recordsIn(response["output"])]);
          markEnding(response, { ...ending, unfinished: ending.unfinished || openCalls.size > 0 });
          if (response["status"] === "failed") event["type"] = "response.failed";
        }
        return true;
      },
      textOf,
    };
  },
  asEvents(response) {
    const items = recordsIn(response["output"]).flatMap((item, index) => itemEvents(item, index));
    const type = response["status"] === "failed" ? "response.failed" : "response.completed";
    return [{ type: "response.created", response: { ...response, output: [] } }, ...items, { type, response }];
  },
};

/** The library reads texts from deltas alone, and everything else from items that are done. */
function itemEvents(item: Body, index: number): readonly Body[] {
  const place = { output_index: index, item_id: item["id"] };
  const texts = recordsIn(item["content"]).flatMap((part, content_index) =>
    part["type"] === "output_text" ? [{ type: "response.output_text.delta", ...place, content_index, delta: part["text"] }] : [],
  );
  const thoughts = recordsIn(item["summary"]).flatMap((part, summary_index) => [
    { type: "response.reasoning_summary_part.added", ...place, summary_index },
    { type: "response.reasoning_summary_text.delta", ...place, summary_index, delta: part["text"] },
  ]);
  return [
    { type: "response.output_item.added", ...place, item },
    ...thoughts,
    ...texts,
    { type: "response.output_item.done", ...place, item },
  ];
}

const texts: ReadonlySet<unknown> = new Set([
  ...["response.output_text.delta", "response.function_call_arguments.delta", "response.reasoning_summary_text.delta"],
]);

function textOf(event: Body): AddedText | undefined {
  const { type, delta, logprobs } = event;
  if (!texts.has(type) || typeof delta !== "string" || recordsIn(logprobs).length > 0) return undefined;
  const places = [event["item_id"], event["output_index"], event["content_index"], event["summary_index"]];
  return { holder: event, member: "delta", part: `${type} ${places.join(" ")}` };
}

interface Ending {
  /** An item is marked as incomplete. */
  readonly unfinished: boolean;
  /** The answer has both a refusal and calls. */
  readonly refusedCall: boolean;
}

function readEnding(output: readonly Body[]): Ending {
  const isRefusal = ({ content }: Body) => recordsIn(content).some(({ type }) => type === "refusal");
  return {
    unfinished: output.some(({ status }) => status === "incomplete"),
    refusedCall: output.some(isRefusal) && output.some(({ type }) => type === "function_call"),
  };
}

/** The library looks at the reason of an incomplete response alone, and takes one without it for whole. */
function markEnding(response: Body, { unfinished, refusedCall }: Ending): void {
  const { status, incomplete_details: details } = response;
  if (isRecord(details) && typeof details["reason"] === "string") return;
  if (status === "failed") {
    response["error"] ||= { code: "server_error", message: "the response failed" };
    return;
  }
  const word = typeof status === "string" && status !== "completed" ? status : unfinished ? "incomplete" : undefined;
  const reason = word ?? (refusedCall ? "content_filter" : undefined);
  if (reason !== undefined) response["incomplete_details"] = { reason };
}

/** The library puts the parts of an item together by its id. */
function nameItem(given: Body, index: number): void {
  if (typeof given["id"] !== "string") given["id"] = `item_${index}`;
}
