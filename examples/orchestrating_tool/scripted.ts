// Stands in for a language model: as `reviewer` it looks for `To do` and `URGENT` in the note that it was sent.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  if (request.worker === "reviewer") return review(request);
  const [result] = request.toolResults();
  if (!result) return { calls: [{ tool: "review_all", args: { folder: "notes" } }] };
  if (!result.result.ok) return `Not reviewed: ${result.result.error.error}`;
  const reviews = result.result.value as unknown as readonly { note: string; task: string; urgent: boolean }[];
  return reviews.map(({ note, task, urgent }) => `${note}: ${task}${urgent ? " (urgent)" : ""}`).join("\n");
}

function review(request: ScriptedRequest): ScriptedAnswer {
  const [note] = request.files();
  if (!note) return request.unexpected("one note");
  const text = new TextDecoder().decode(note.bytes);
  const task = /To do: (.+?)\./.exec(text)?.[1] ?? "nothing";
  return { json: { task, urgent: text.includes("URGENT") } };
}
