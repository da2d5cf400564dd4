// Stands in for a language model: it halves, calls itself, and takes the first sentence of a part for its summary.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

const longest = 600;

interface Part {
  readonly path: string;
  readonly offset: number;
  readonly length: number | undefined;
}

export default function play(request: ScriptedRequest): ScriptedAnswer {
  const part = partOf(request);
  const results = request.toolResults();
  const failed = results.find(({ result }) => !result.ok);
  if (failed) return `No summary: ${JSON.stringify(failed.result)}`;
  const values = results.map(({ result }) => (result.ok ? result.value : null));
  const [first] = results;
  if (!first) return part.length === undefined ? read(part, 1) : work({ ...part, length: part.length });
  if (first.name === "worker_call") return values.map(String).join(" ");
  const { content, total_chars: total } = values[0] as { content: string; total_chars: number };
  if (request.turn === 1 + 1 && part.length === undefined) return work({ ...part, length: total });
  return `${content.split(". ")[0]?.trim().replace(/\.$/, "")}.`;
}

function work({ path, offset, length }: Part & { readonly length: number }): ScriptedAnswer {
  if (length <= longest) return read({ path, offset, length }, length);
  const half = Math.ceil(length / 2);
  const halves = [
    { path, offset, length: half },
    { path, offset: offset + half, length: length - half },
  ];
  return { calls: halves.map((input) => ({ tool: "worker_call", args: { input } })) };
}

function read({ path, offset }: Part, chars: number): ScriptedAnswer {
  return { calls: [{ tool: "read_file", args: { path, offset, max_chars: chars } }] };
}

/** The input without a template is canonical JSON. */
function partOf(request: ScriptedRequest): Part {
  const { path, offset = 0, length } = JSON.parse(request.lastUserText()) as { path: string; offset?: number; length?: number };
  return { path, offset, length };
}
