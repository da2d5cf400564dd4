import type { CallDetail, RunEvent } from "../../protocol/event.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { textOrJson } from "../explain/phrases.ts";

/** Renders what the line of an event omits, for a call that is debugged: each text whole, indented below the line. */
export function renderDetail(event: RunEvent): string {
  switch (event.type) {
    case "call-start":
      return event.detail ? renderStart(event.detail) : "";
    case "tool-call":
      return block("arguments", textOrJson(event.args));
    case "tool-result": {
      const { result, stack } = event;
      const told = result.ok ? block("value", textOrJson(result.value)) : block("error", textOrJson(result.error));
      return told + (stack === undefined ? "" : block("stack", stack));
    }
    case "turn-end":
      return event.text === "" ? "" : block(`answer of turn ${event.turn}`, event.text);
    default:
      return "";
  }
}

function renderStart({
  input,
  instructions,
  systemFragments = [],
  prompt,
  fragments = [],
  attachments = [],
}: CallDetail): string {
  const files = attachments.map(({ name, mediaType, bytes }) => `${name}, ${mediaType}, ${bytes} bytes`);
  return [
    block("input", textOrJson(input)),
    block("instructions", instructions ?? ""),
    ...systemFragments.map((text) => block("system fragment", text)),
    block("prompt", prompt ?? ""),
    ...fragments.map((text) => block("fragment", text)),
    ...files.map((file) => block("attachment", file)),
  ].join("");
}

/** Nothing for an empty text. */
function block(title: string, text: string): string {
  if (text.trim() === "") return "";
  const lines = escapeText(text.trimEnd(), { keepNewlines: true, keepBackslashes: true }).split("\n");
  const [only = "", ...more] = lines;
  if (more.length === 0) return `  ${title}: ${only}\n`;
  return `  ${title}:\n${lines.map((line) => `    ${line}`.trimEnd()).join("\n")}\n`;
}
