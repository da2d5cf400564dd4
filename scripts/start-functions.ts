// Marks in a bundle the functions that each run calls. V8 reads a function once to skip it and once more to compile it when it is called
// first, and Node's compile cache holds what was compiled with its file alone. A function expression in parentheses is compiled with its file.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type OutputChunk, RolldownMagicString, type RolldownPlugin } from "rolldown";
import { parseSync, Visitor } from "rolldown/utils";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly [Range, ...Range[]] }[];
  }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** A function that can be marked: a declaration of the module, or an arrow function anywhere in it. */
interface Candidate {
  readonly start: number;
  readonly end: number;
  /** Absent for an arrow function. */
  readonly id?: { readonly name: string; readonly start: number; readonly end: number } | null;
}

/** Places of called functions among the candidates of a chunk, by the chunk's modules. */
export type Marks = ReadonlyMap<string, ReadonlySet<number>>;

const program = {
  "llm-do.yaml": `providers:
  chat: { type: openai-compatible, base_url: "\${BASE_URL}" }
`,
  "main.worker": `---
input: { input: string }
toolsets: { look: { _use: ./tools.ts:look } }
---
Answer.
`,
  "tools.ts": `import { tool, toolset } from "llm-do";
import { z } from "zod";
const input = z.object({ key: z.string() });
export const look = toolset({ name: "look", tools: () => [tool({ name: "look_up", description: "Looks up.", input, run: () => "" })] });
`,
};

const usage = { input_tokens: 1, output_tokens: 1, prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
/** A whole answer in each wire, by the end of a request's path. */
const answers = {
  "/chat/completions": {
    id: "1",
    choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
    usage,
  },
  "/messages": {
    id: "1",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "done" }],
    stop_reason: "end_turn",
    usage,
  },
  "/responses": {
    id: "1",
    created_at: 1,
    status: "completed",
    output: [
      {
        type: "message",
        id: "2",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "done", annotations: [] }],
      },
    ],
    usage,
  },
};

/** Runs a program with the built command and a server of this process, once with each wire. Resolves with the functions that were called. */
export async function findStartFunctions(chunks: readonly OutputChunk[]): Promise<Marks> {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-build-"));
  const server = createServer(({ url = "" }, response) => {
    const body = Object.entries(answers).find(([path]) => url.endsWith(path))?.[1];
    response.setHeader("content-type", "application/json").end(JSON.stringify({ model: "none", ...body }));
  });
  try {
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : undefined}/v1`;
    for (const [name, text] of Object.entries(program)) writeFileSync(join(folder, name), text);
    const env = {
      PATH: process.env["PATH"],
      BASE_URL: origin,
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_BASE_URL_KEY: "none",
      OPENAI_BASE_URL: origin,
      OPENAI_BASE_URL_KEY: "none",
      LLM_DO_STATE_DIR: join(folder, "state"),
      NODE_V8_COVERAGE: join(folder, "coverage"),
    };
    for (const provider of ["chat", "anthropic", "openai"]) await runOnce(folder, `${provider}:none`, env);
    const called = readCoverage(join(folder, "coverage"));
    return new Map(chunks.map((chunk) => [keyOf(chunk), placesOf(chunk, called)]));
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runOnce(folder: string, model: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = [resolve("bin/llm-do.js"), "main.worker", "Hello", "--model", model, "--trust", "--reject-all"];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (part: Buffer) => {
    output += part;
  });
  const [code] = await once(child, "close");
  if (code !== 0 || output.trim() !== "done")
    throw new Error(`the built command ended with ${code} for ${model}, and said: ${output}`);
}

/** The ranges of functions that were called, by their files' URLs. */
function readCoverage(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const called = new Map<string, Set<string>>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage;
    for (const { url, functions } of result) {
      const ranges = called.get(url) ?? new Set();
      called.set(url, ranges);
      for (const {
        ranges: [whole],
      } of functions)
        if (whole.count > 0) ranges.add(`${whole.startOffset}-${whole.endOffset}`);
    }
  }
  return called;
}

function placesOf({ fileName }: OutputChunk, called: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<number> {
  const path = resolve("dist", fileName);
  const ranges = called.get(pathToFileURL(path).href);
  if (ranges === undefined) return new Set();
  const candidates = candidatesOf(readFileSync(path, "utf8"));
  return new Set(candidates.flatMap(({ start, end }, place) => (ranges.has(`${start}-${end}`) ? [place] : [])));
}

function keyOf({ moduleIds }: { readonly moduleIds: readonly string[] }): string {
  return moduleIds.join("\n");
}

function candidatesOf(code: string): readonly Candidate[] {
  const { program } = parseSync("chunk.js", code);
  const found: Candidate[] = [];
  for (const node of program.body) if (node.type === "FunctionDeclaration") found.push(node);
  new Visitor({ ArrowFunctionExpression: (node) => void found.push(node) }).visit(program);
  return found;
}

/**
 * Puts the marked functions in parentheses. A declaration becomes a variable at the beginning of the file, where all code finds it that
 * found the declaration; its name in stack traces stays.
 */
export function createMarker(marks: Marks): RolldownPlugin {
  return {
    name: "start-functions",
    renderChunk(code, chunk) {
      const places = marks.get(keyOf(chunk));
      if (!places?.size) return null;
      const text = new RolldownMagicString(code);
      for (const [place, { start, end, id }] of candidatesOf(code).entries()) {
        if (!places.has(place)) continue;
        text.prependRight(start, id ? `var ${id.name} = (` : "(").appendLeft(end, id ? ");\n" : ")");
        if (id) text.remove(id.start, id.end).move(start, end, 0);
      }
      return text;
    },
  };
}
