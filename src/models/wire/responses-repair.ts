import { isRecord, recordsIn } from "../../protocol/json.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

/** Items and annotations that the library knows. It ignores unknown events by itself, but rejects unknown items. */
const items: ReadonlySet<unknown> = new Set([
  ...["message", "reasoning", "compaction", "function_call", "custom_tool_call", "web_search_call", "file_search_call"],
  ...["code_interpreter_call", "image_generation_call", "apply_patch_call", "shell_call", "shell_call_output"],
  ...["tool_search_call", "tool_search_output"],
]);
const annotations: ReadonlySet<unknown> = new Set(["url_citation", "file_citation", "container_file_citation", "file_path"]);

export const responsesRepair: AnswerRepair = {
  body(body) {
    const ending = readEnding(recordsIn(body["output"]));
    if (Array.isArray(body["output"])) {
      body["output"] = recordsIn(body["output"]).filter(({ type }) => items.has(type));
      recordsIn(body["output"]).forEach(repairItem);
    }
    markEnding(body, ending);
  },
  events() {
    const done: Body[] = [];
    const openCalls = new Set<unknown>();
    return {
      event(event) {
        const { type, item, output_index: index, response } = event;
        if (isRecord(item)) {
          repairItem(item);
          if (type === "response.output_item.added" && item["type"] === "function_call") openCalls.add(index);
          if (type === "response.output_item.done") {
            openCalls.delete(index);
            done.push(item);
          }
        }
        if (isRecord(response) && (type === "response.completed" || type === "response.incomplete")) {
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
  const texts = recordsIn(item["content"]).flatMap(({ type, text }, content_index) =>
    type === "output_text" ? [{ type: "response.output_text.delta", ...place, content_index, delta: text }] : [],
  );
  const thoughts = recordsIn(item["summary"]).flatMap(({ text }, summary_index) => [
    { type: "response.reasoning_summary_part.added", ...place, summary_index },
    { type: "response.reasoning_summary_text.delta", ...place, summary_index, delta: text },
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

function repairItem(item: Body): void {
  if (item["type"] === "function_call" && typeof item["arguments"] !== "string") {
    item["arguments"] = JSON.stringify(item["arguments"] ?? {});
  }
  if (item["type"] !== "message" || !Array.isArray(item["content"])) return;
  const parts = recordsIn(item["content"]).filter(({ type }) => type === "refusal" || type === "output_text");
  item["content"] = parts;
  for (const part of parts) {
    if (part["type"] !== "output_text") continue;
    part["annotations"] = recordsIn(part["annotations"]).filter(({ type }) => annotations.has(type));
  }
}
