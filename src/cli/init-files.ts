import { renderEditorSchema } from "./editor-schemas.ts";
import { renderCommands } from "./init-commands.ts";

export interface InitSettings {
  readonly name: string;
  /** `provider:name`, for workers that name none. */
  readonly model?: string | undefined;
}

/** The files of a new program, by their paths in it. It runs as it is, without a key: `scripted.ts` plays the model. */
export function createInitFiles({ name, model }: InitSettings): ReadonlyMap<string, string> {
  return new Map([
    ["main.worker", worker],
    ["tools.ts", tools],
    ["scripted.ts", scripted],
    ["main.test.yaml", tests],
    ["llm-do.yaml", renderManifest(name, model)],
    ["input/notes.txt", notes],
    ["schema/worker.schema.json", renderEditorSchema("worker")],
    ["schema/manifest.schema.json", renderEditorSchema("manifest")],
    ["schema/test.schema.json", renderEditorSchema("test")],
  ]);
}

function renderManifest(name: string, model: string | undefined): string {
  const models =
    model === undefined
      ? "# The model of workers that name none. Until it is set: --model, or LLM_DO_MODEL.\n# model: anthropic:claude-sonnet-4-5\n"
      : `model: ${renderText(model)}\n`;
  return `# yaml-language-server: $schema=./schema/manifest.schema.json\nname: ${renderText(name)}\n${models}${asComment(renderCommands())}`;
}

function asComment(text: string): string {
  return text.replaceAll(/^(?:# )?(?=.)/gm, "# ");
}

/** Quoted wherever YAML could read something else than the text. */
function renderText(text: string): string {
  return /^[A-Za-z][\w-]*(?:[:/.][\w.-]+)*$/.test(text) && !/^(?:true|false|null)$/i.test(text) ? text : JSON.stringify(text);
}

const worker = `---
# yaml-language-server: $schema=./schema/worker.schema.json
description: Count the words of the files in input, and say what is in them.
sandbox:
  paths:
    input: { root: ./input, mode: ro, suffixes: [.txt, .md] }
toolsets:
  filesystem: {}
  count_words: {}
---
You report on a folder of text files.

1. List the files: call \`list_files\` with the path \`input\`. If there is none, say so and stop.
2. Read all of them with \`read_file\`.
3. Call \`count_words\` with the text of each. Do not count yourself.
4. Answer with one line for each file: its path, its number of words, and what it says in one sentence. If you were asked
   something about the files, answer that in a last line.
`;

const tools = `// What workers refer to by name under \`toolsets\`.
import { tool } from "llm-do";
import { z } from "zod";

/** Counting is work for code: a model would guess. With \`approval: "ask"\` every call waits for your answer. */
export const count_words = tool({
  description: "Count the words of a text.",
  input: z.object({ text: z.string().describe("The whole text.") }),
  approval: "pre-approved",
  run: ({ text }) => text.split(/\\s+/).filter((word) => word !== "").length,
});
`;

const tests = `# yaml-language-server: $schema=./schema/test.schema.json
# What \`llm-do test\` runs, in a copy of this folder. Each case says who answers for the model, and what is expected.
script: scripted.ts
cases:
  - name: counts the words of each file in code
    input: Which file is the longest?
    files: { input/notes.txt: { text: one two three } }
    expect:
      output: { contains: "input/notes.txt: 3 words" }
      calls: { read_file: 1, count_words: 1 }
      limits: { turns: 4 }
`;

const notes = `The harbour office opens at seven. Boats that arrive earlier tie up at the north quay
and report by radio. Fuel is sold until noon, and on Sundays not at all.
`;

const scripted = `// Plays the model of main.worker, so that the program runs without a key and without a network. It takes the steps that
// the instructions ask for, one a turn, and understands nothing of what it reads.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

export default function play(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const failed = results.find(({ result }) => !result.ok)?.result;
  if (failed && !failed.ok) return \`I could not go on: \${failed.error.error}\`;
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
      return [...pathsRead(request).map((path, index) => \`\${path}: \${values[index]} words\`), asked(request)].join("\\n");
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
  return \`You asked: \${JSON.stringify(request.lastUserText())}. A real model would answer that here.\`;
}
`;
