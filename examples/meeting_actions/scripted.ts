// Stands in for a language model: it takes lines that begin with a dash and a name for actions.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "notes" } }] };
  const denied = results.find(({ result }) => !result.ok);
  if (denied) return `Nothing was written: ${JSON.stringify(denied.result)}`;
  const values = results.map(({ result }) => (result.ok ? result.value : null));
  if (first.name === "list_files") {
    const { files } = values[0] as { files: string[] };
    return { calls: files.map((path) => ({ tool: "read_file", args: { path } })) };
  }
  if (first.name === "read_file") {
    const lines = values.flatMap((value) => actionsOf((value as { content: string }).content));
    return { calls: [{ tool: "write_file", args: { path: "out/actions.md", content: `${lines.join("\n")}\n` } }] };
  }
  const written = writtenBy(request);
  const open = written.filter((line) => line.endsWith("no date"));
  return `${written.length} actions.${open.map((line) => ` Without a date: ${line.slice(2, -", no date".length)}.`).join("")}`;
}

function actionsOf(notes: string): readonly string[] {
  return [...notes.matchAll(/^- (\p{Lu}\w+) (.+?)(?:, by (.+?))?\.$/gmu)].map(
    ([, who, what, when]) => `- ${who}: ${what}, ${when === undefined ? "no date" : `by ${when}`}`,
  );
}

function writtenBy({ messages }: ScriptedRequest): readonly string[] {
  const parts = messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  const write = parts.find((part) => part.type === "tool-call" && part.name === "write_file");
  const { content } = (write?.type === "tool-call" ? write.args : { content: "" }) as { content: string };
  return content.trim().split("\n");
}
