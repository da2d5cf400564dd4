// Stands in for a language model: as `triage_ticket` it looks for a few words in the ticket.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  return request.worker === "main" ? playMain(request) : triage(request);
}

function playMain(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "tickets" } }] };
  if (!first.result.ok) return `The tickets were not triaged: ${first.result.error.error}`;
  if (first.name === "list_files")
    return { calls: listed(first.result.value).map((ticket) => ({ tool: "triage_ticket", args: { input: ticket } })) };
  const tickets = request.messages.flatMap((message) =>
    message.role === "tool"
      ? message.parts.flatMap(({ name, result }) => (name === "list_files" && result.ok ? listed(result.value) : []))
      : [],
  );
  const answers = results.map(({ result }) => (result.ok ? result.value : result.error.error));
  return tickets.map((ticket, index) => `${ticket}: ${answers[index]}`).join("\n");
}

function listed(value: unknown): readonly string[] {
  return (value as { readonly files: readonly string[] }).files;
}

const statuses: readonly (readonly [RegExp, string])[] = [
  [/prize/i, "closed"],
  [/cannot work|today/i, "urgent"],
  [/would be nice/i, "wish"],
];

function triage(request: ScriptedRequest): ScriptedAnswer {
  const path = request.lastUserText();
  const [last] = request.toolResults();
  if (!last) return { calls: [{ tool: "read_file", args: { path } }] };
  if (!last.result.ok) return `not changed: ${last.result.error.error}`;
  if (last.name === "edit_file") return statusSet(request);
  const { content } = last.result.value as unknown as { readonly content: string };
  if (!/^status: new$/m.test(content)) return "is triaged";
  return { calls: [{ tool: "edit_file", args: { path, old_text: "status: new", new_text: `status: ${statusOf(content)}` } }] };
}

function statusOf(content: string): string {
  return statuses.find(([words]) => words.test(content))?.[1] ?? "open";
}

/** The status that the request's last call has set. */
function statusSet({ messages }: ScriptedRequest): string {
  const calls = messages.flatMap(({ role, parts }) => (role === "assistant" ? parts : []));
  const args = calls.flatMap((part) => (part.type === "tool-call" && part.name === "edit_file" ? [part.args] : []));
  return (args[0] as { readonly new_text: string }).new_text.replace("status: ", "");
}
