import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair, Body } from "./answer-repair.ts";

/** What the library knows of the Responses API. It passes over events that it does not know by itself, but not items. */
const items: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "compaction",
  "apply_patch_call",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
]);

const annotations: ReadonlySet<unknown> = new Set(["url_citation", "file_citation", "container_file_citation", "file_path"]);

export const responsesRepair: AnswerRepair = {
  body: (body) => withEnding(repairOutput(body), readEnding(body["output"])),
  events() {
    const ending = { unfinished: false, refused: false, called: false };
    const open = new Set<unknown>();
    return {
      event(event) {
        const { type, item, output_index: index, response } = event;
        const repaired = isRecord(item) ? repairItem(item) : item;
        if (type === "response.output_item.added" && isRecord(item) && item["type"] === "function_call") open.add(index);
        if (type === "response.output_item.done") {
          open.delete(index);
          const { unfinished, refused, called } = readEnding([item]);
          ending.unfinished ||= unfinished;
          ending.refused ||= refused;
          ending.called ||= called;
        }
        if (isRecord(response) && (type === "response.completed" || type === "response.incomplete")) {
          const told = readEnding(response["output"]);
          const unfinished = ending.unfinished || told.unfinished || open.size > 0;
          const ended = withEnding(response, { ...ending, unfinished });
          return ended["status"] === "failed"
            ? { ...event, type: "response.failed", response: ended }
            : { ...event, response: ended };
        }
        return repaired === item ? event : { ...event, item: repaired };
      },
    };
  },
};

interface ItemsEnding {
  /** An item says of itself that it is incomplete. */
  readonly unfinished: boolean;
  readonly refused: boolean;
  readonly called: boolean;
}

function readEnding(output: unknown): ItemsEnding {
  const given = (Array.isArray(output) ? output : []).filter(isRecord);
  return {
    unfinished: given.some(({ status }) => status === "incomplete"),
    refused: given.some(
      ({ content }) => Array.isArray(content) && content.some((part) => isRecord(part) && part["type"] === "refusal"),
    ),
    called: given.some(({ type }) => type === "function_call"),
  };
}

/** The library looks at the reason of an incomplete response alone, and takes one without it for whole. */
function withEnding(response: Body, { unfinished, refused, called }: ItemsEnding): Body {
  const { status, incomplete_details: details, error } = response;
  if (isRecord(details) && typeof details["reason"] === "string") return response;
  if (status === "failed")
    return error ? response : { ...response, error: { code: "server_error", message: "the response failed" } };
  const word = typeof status === "string" && status !== "completed" ? status : unfinished ? "incomplete" : undefined;
  if (word !== undefined) return { ...response, incomplete_details: { reason: word } };
  return refused && called ? { ...response, incomplete_details: { reason: "content_filter" } } : response;
}

function repairOutput(body: Body): Body {
  const { output } = body;
  if (!Array.isArray(output)) return body;
  const known = output.filter((item: unknown): item is Body => isRecord(item) && items.has(item["type"]));
  const repaired = known.map(repairItem);
  return repaired.length === output.length && repaired.every((item, index) => item === output[index])
    ? body
    : { ...body, output: repaired };
}

function repairItem(item: Body): Body {
  if (item["type"] === "function_call" && typeof item["arguments"] !== "string") {
    return { ...item, arguments: JSON.stringify(item["arguments"] ?? {}) };
  }
  const { content } = item;
  if (item["type"] !== "message" || !Array.isArray(content)) return item;
  const known = content.flatMap((part: unknown) => repairPart(part) ?? []);
  return known.length === content.length && known.every((part, index) => part === content[index])
    ? item
    : { ...item, content: known };
}

function repairPart(part: unknown): Body | undefined {
  if (!isRecord(part)) return undefined;
  if (part["type"] === "refusal") return part;
  if (part["type"] !== "output_text") return undefined;
  const given = Array.isArray(part["annotations"]) ? part["annotations"] : [];
  const known = given.filter((annotation: unknown) => isRecord(annotation) && annotations.has(annotation["type"]));
  return known.length === given.length && Array.isArray(part["annotations"]) ? part : { ...part, annotations: known };
}
