// Stands in for a language model: it looks for words, and like a model it is wrong now and then.
import { createHash } from "node:crypto";
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  return request.worker === "main" ? playMain(request) : { json: answer(request.system.join("\n").trim(), "today") };
}

/** The share of messages about which the model is wrong. */
const noise = 0.02;

/** The model's answer. `salt` stands for the day: on another day it is wrong about other messages. */
export function answer(text: string, salt: string) {
  const message = text.split("\n").at(-1) ?? "";
  const kind = /hangs|crashes|fails|error|broken/.test(message) ? "bug" : message.endsWith("?") ? "question" : "wish";
  const isUrgent = kind !== "wish" && /cannot go on|today|blocked/.test(message);
  const drawn = createHash("sha256").update(`${salt} ${message}`).digest().readUInt32BE() / 2 ** 32;
  return { kind, urgent: drawn < noise ? !isUrgent : isUrgent };
}

function playMain(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "inbox" } }] };
  if (!first.result.ok) return `The messages were not sorted: ${first.result.error.error}`;
  if (first.name === "list_files")
    return { calls: files(first.result.value).map((path) => ({ tool: "read_file", args: { path } })) };
  const values = results.map(({ result }) => (result.ok ? result.value : undefined));
  if (first.name === "read_file")
    return { calls: values.map((value) => ({ tool: "triage", args: { message: textOf(value).trim() } })) };
  const sorted = values as unknown as readonly { readonly kind: string; readonly urgent: boolean }[];
  if (first.name === "triage") {
    const lines = sorted.map(({ kind, urgent }, index) => `${index + 1}. ${kind}${urgent ? ", urgent" : ""}\n`);
    return { calls: [{ tool: "write_file", args: { path: "output/list.md", content: lines.join("") } }] };
  }
  const urgent = request.messages.flatMap(urgentOf).length;
  return `${urgent} of the messages cannot wait.`;
}

function files(value: unknown): readonly string[] {
  return (value as { readonly files: readonly string[] }).files;
}

function textOf(value: unknown): string {
  return (value as { readonly content: string }).content;
}

/** The answers of `triage` in a message that say that it cannot wait. */
function urgentOf({ parts }: ScriptedRequest["messages"][number]): readonly unknown[] {
  const values = parts.flatMap((part) =>
    part.type === "tool-result" && part.name === "triage" && part.result.ok ? [part.result.value] : [],
  );
  return values.filter((value) => (value as { readonly urgent: boolean }).urgent);
}
