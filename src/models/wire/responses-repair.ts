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
  body(body) {
    const { output } = body;
    if (!Array.isArray(output)) return body;
    const known = output.filter((item: unknown): item is Body => isRecord(item) && items.has(item["type"]));
    const repaired = known.map(repairItem);
    return repaired.length === output.length && repaired.every((item, index) => item === output[index])
      ? body
      : { ...body, output: repaired };
  },
  events: () => ({
    event(event) {
      const { item } = event;
      const repaired = isRecord(item) ? repairItem(item) : item;
      return repaired === item ? event : { ...event, item: repaired };
    },
  }),
};

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
