import { isRecord } from "../../protocol/json.ts";
import { count, kept, kinds, list, object, or, parts, record, text, unread } from "./fit.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

const counts = record({ input_tokens: or(count, 0), output_tokens: or(count, 0) });

const usage = record({
  tokens: or(counts, { input_tokens: 0, output_tokens: 0 }),
  billed_units: counts,
  cached_tokens: count,
});

/** The library reads sources of documents alone, and requires what a document can be without. */
const document = record({ id: text, text: or(text, ""), title: or(text, "") });
const source = record({ type: text, id: text, document }, ["document"]);
const citation = record({ start: count, end: count, text, type: text, sources: or(list(source), []) }, ["start", "end", "text"]);

const message = record({
  role: or(text, "assistant"),
  tool_plan: text,
  citations: list(citation),
  content: parts(kinds({ text: kept, thinking: record({ thinking: text }, ["thinking"]) })),
  tool_calls: parts(record({ id: or(text, ""), type: or(text, "function") })),
});

const noUsage = { tokens: { input_tokens: 0, output_tokens: 0 } };
const end = { finish_reason: or(text, "COMPLETE") };
const body = record({ ...end, generation_id: text, message, usage: or(usage, noUsage) });

const call = record({ id: or(text, ""), type: or(text, "function") });
const said = kinds({ text: kept, thinking: record({ thinking: or(text, "") }) });
const delta = (members: Parameters<typeof record>[0]) => record({ delta: record({ message: record(members) }) });

/** Events that the library knows. */
const event = kinds({
  "message-start": record({ id: text, delta: unread }),
  "message-end": record({ delta: record({ ...end, usage: or(usage, noUsage) }) }),
  "content-start": delta({ content: said }),
  "content-delta": kept,
  "content-end": kept,
  "tool-plan-delta": delta({ tool_plan: or(text, "") }),
  "tool-call-start": delta({ tool_calls: call }),
  "tool-call-delta": kept,
  "tool-call-end": kept,
  "citation-start": unread,
  "citation-end": unread,
});

export const cohereRepair: AnswerRepair = {
  body: (whole) => void body(whole),
  events() {
    const dropped = new Set<unknown>();
    return {
      event(one) {
        if (one["type"] === "content-start" && said(contentOf(one)) === undefined) dropped.add(one["index"]);
        if (String(one["type"]).startsWith("content-") && dropped.has(one["index"])) return false;
        return event(one) !== undefined;
      },
      textOf,
    };
  },
  asEvents({ id, message: given, finish_reason, usage: used }) {
    const { content, tool_plan, tool_calls } = isRecord(given) ? given : {};
    const blocks = Array.isArray(content) ? (content as Body[]) : [];
    const calls = Array.isArray(tool_calls) ? (tool_calls as Body[]) : [];
    const messageOf = (members: object) => ({ delta: { message: members } });
    return [
      { type: "message-start", id },
      ...(tool_plan ? [{ type: "tool-plan-delta", ...messageOf({ tool_plan }) }] : []),
      ...blocks.flatMap((block, index) => [
        {
          type: "content-start",
          index,
          ...messageOf({ content: block["type"] === "text" ? { type: "text", text: "" } : block }),
        },
        ...(block["type"] === "text"
          ? [{ type: "content-delta", index, ...messageOf({ content: { text: block["text"] } }) }]
          : []),
        { type: "content-end", index },
      ]),
      ...calls.flatMap((made) => [{ type: "tool-call-start", ...messageOf({ tool_calls: made }) }, { type: "tool-call-end" }]),
      { type: "message-end", delta: { finish_reason, usage: used } },
    ];
  },
};

function contentOf({ delta: given }: Body): unknown {
  const at = isRecord(given) ? given["message"] : undefined;
  return isRecord(at) ? at["content"] : undefined;
}

function textOf(one: Body): AddedText | undefined {
  const content = object(contentOf(one));
  if (one["type"] !== "content-delta" || !isRecord(content)) return undefined;
  const member = ["text", "thinking"].find((name) => typeof content[name] === "string");
  return member === undefined ? undefined : { holder: content, member, part: `${one["index"]} ${member}` };
}
