// Plays the model of main.worker, so that the program runs without a key and without a network. It takes the steps that
// the instructions ask for, one a turn, and understands nothing of what it reads.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const failed = results.find(({ result }) => !result.ok)?.result;
  if (failed && !failed.ok) return `I could not go on: ${failed.error.error}`;
  const values = results.map(({ result }) => (result.ok ? result.value : undefined));

  switch (request.turn) {
    case 1:
      return { calls: [{ tool: "list_files", args: { path: "input" } }] };
    case 2: {
      const { files } = values[0] as { files: string[] };
      if (files.length === 0) return "There is no file in input.";
      return { calls: files.map((path) => ({ tool: "read_file", args: { path } })) };
    }
    case 3:
      return { calls: values.map((value) => ({ tool: "count_words", args: { text: (value as { content: string }).content } })) };
    case 4:
      return [...pathsRead(request).map((path, index) => `${path}: ${values[index]} words`), asked(request)].join("\n");
    default:
      return undefined;
  }
}

function pathsRead({ messages }: ScriptedRequest): string[] {
  return messages.flatMap((message) => {
    const calls = message.role === "assistant" ? message.parts.filter((part) => part.type === "tool-call") : [];
    return calls.filter(({ name }) => name === "read_file").map(({ args }) => (args as { path: string }).path);
  });
}

function asked(request: ScriptedRequest): string {
  return `You asked: ${JSON.stringify(request.lastUserText())}. A real model would answer that here.`;
}
