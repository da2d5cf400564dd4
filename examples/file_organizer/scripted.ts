// Stands in for a language model: it sorts by the suffix and by the word for a bill.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "files/inbox" } }] };
  const failed = results.find(({ result }) => !result.ok);
  if (failed) return `Stopped: ${JSON.stringify(failed.result)}`;
  const values = results.map(({ result }) => (result.ok ? result.value : null));
  if (first.name === "list_files")
    return { calls: filesOf(request).map((path) => ({ tool: "tidy_name", args: { name: path.slice("files/inbox/".length) } })) };
  if (first.name === "tidy_name") {
    const copies = filesOf(request).map(
      (path, index) => `cp '${path.slice("files/".length)}' 'output/${folderOf(path)}/${values[index]}'`,
    );
    return { calls: ["mkdir -p output/letters output/pictures output/bills", ...copies].map(shell) };
  }
  const commands = request.messages.flatMap((message) =>
    message.role === "assistant" ? message.parts.flatMap((part) => (part.type === "tool-call" ? [part.args] : [])) : [],
  );
  return commands
    .flatMap((args) => /^cp '(.+)' '(.+)'$/.exec((args as { command?: string } | null)?.command ?? "") ?? [])
    .flatMap((word, index) => (index % 3 === 1 ? [`${word} -> `] : index % 3 === 2 ? [`${word}\n`] : []))
    .join("");
}

function shell(command: string) {
  return { tool: "shell", args: { command, writes: ["files/output"] } };
}

function folderOf(path: string): string {
  if (/bill/i.test(path)) return "bills";
  return path.endsWith(".svg") ? "pictures" : "letters";
}

function filesOf({ messages }: ScriptedRequest): readonly string[] {
  for (const message of messages) {
    const listing = message.role === "tool" ? message.parts.find(({ name }) => name === "list_files") : undefined;
    if (listing?.result.ok) return (listing.result.value as { files: string[] }).files;
  }
  return [];
}
