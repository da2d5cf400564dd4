// Stands in for a language model: as `main` it makes a worker for each kind of letter, as one of these it looks for a few words.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

const wanted: Readonly<Record<string, string>> = {
  invoice: "Answer with who sent the invoice, how much it is, and when it is due.",
  complaint: "Answer with who complains, and of what.",
};

export default function play(request: ScriptedRequest): ScriptedAnswer {
  return request.worker === "main" ? sort(request) : readLetter(request);
}

function sort(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const failed = results.find(({ result }) => !result.ok);
  if (failed) return `Not sorted: ${JSON.stringify(failed.result)}`;
  const values = results.map(({ result }) => (result.ok ? result.value : null));
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "inbox" } }] };
  if (first.name === "list_files") {
    const { files } = values[0] as unknown as { readonly files: readonly string[] };
    return { calls: files.map((path) => ({ tool: "read_file", args: { path, max_chars: 20 } })) };
  }
  if (first.name === "read_file") return makeReaders(lettersOf(request, values as unknown as readonly Letter[]));
  return values.filter((value) => typeof value === "string").join("\n");
}

interface Letter {
  readonly path: string;
  readonly content: string;
}

/** Each content with the path that it was asked for by. */
function lettersOf({ messages }: ScriptedRequest, contents: readonly Omit<Letter, "path">[]): readonly Letter[] {
  const asked = messages.findLast(({ role }) => role === "assistant")?.parts ?? [];
  const paths = asked.flatMap((part) => (part.type === "tool-call" ? [(part.args as { path: string }).path] : []));
  return contents.map(({ content }, index) => ({ content, path: paths[index] ?? "" }));
}

function kindOf({ content }: Letter): string {
  return content.split("\n", 1)[0]?.toLowerCase() ?? "";
}

/** All in one turn: each call waits until its worker is there. */
function makeReaders(letters: readonly Letter[]): ScriptedAnswer {
  const kinds = [...new Set(letters.map(kindOf))];
  const create = kinds.map((kind) => ({
    tool: "worker_create",
    args: {
      name: `read_${kind}`,
      description: `Read one ${kind}.`,
      instructions: `You get the path of one ${kind}. Read it with \`read_file\`. ${wanted[kind] ?? ""}`,
      toolsets: { filesystem: {} },
      sandbox: { paths: { inbox: {} } },
      limits: { turns: 3 },
      force: true,
    },
  }));
  const call = letters.map((letter) => ({ tool: "worker_call", args: { worker: `read_${kindOf(letter)}`, input: letter.path } }));
  return { calls: [...create, ...call] };
}

function readLetter(request: ScriptedRequest): ScriptedAnswer {
  const [read] = request.toolResults();
  if (!read) return { calls: [{ tool: "read_file", args: { path: request.lastUserText() } }] };
  if (!read.result.ok) return request.unexpected("a letter");
  const [, from = "", ...lines] = (read.result.value as unknown as Letter).content.trim().split("\n");
  return `${from.replace("From: ", "")}: ${lines.join(", ")}`;
}
