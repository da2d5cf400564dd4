import { isRecord, type JsonObject } from "../protocol/json.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";
import { parseJson } from "../util/json/parse-json.ts";
import { configSchema } from "./config-schema.ts";
import { executeProgram, type ProgramConfig, programFlags, programLimits } from "./program.ts";
import { type Tool, toolMark } from "./toolset.ts";

/** The first lines of a `.program.js` file, a comment with JSON. */
export interface ProgramHeader {
  readonly description: string;
  /** A JSON Schema. */
  readonly input: JsonObject;
  /** The tools and workers that it may call, of the worker that calls it. */
  readonly calls: readonly string[];
}

const header = configSchema<ProgramHeader & ProgramConfig>({
  ...programLimits,
  description: { type: "string", default: "", description: "For the model that calls the tool." },
  input: { type: "object", default: { type: "object" }, description: "The JSON Schema of its input." },
  calls: { type: "array", items: { type: "string" }, default: [], description: "The names that it may call." },
});

/** Prints a file that `readProgram` reads. */
export function printProgram(said: ProgramHeader, source: string): string {
  // These end a comment, too.
  const text = JSON.stringify(said, null, 2).replace(/[\u2028\u2029]/g, (one) => (one === "\u2028" ? "\\u2028" : "\\u2029"));
  const lines = text.split("\n");
  return `${lines.map((line) => `// ${line}\n`).join("")}\n${source.replace(/\n*$/, "\n")}`;
}

function readHeader(written: unknown): ProgramHeader & ProgramConfig {
  const read = header.validate(written);
  if (read instanceof Promise) throw new Error("invariant: the check of a configuration waits");
  if (!read.ok) throw new TypeError(`its first lines: ${renderIssues(read.issues)}`);
  return read.value;
}

/**
 * The tool of a file with a program. It reaches the names in its `calls` with the rights of the worker that calls it, and gives what the
 * program returns. Throws a `TypeError` that says what is wrong with its first lines.
 */
export function readProgram(name: string, text: string): Tool {
  const [comment = ""] = /^(?:\/\/.*\r?\n)*/.exec(text) ?? [];
  const written = parseJson(comment.replace(/^\/\/ ?/gm, ""));
  if (!isRecord(written))
    throw new TypeError('its first lines are no comment with `{ "description": …, "input": …, "calls": [] }`');
  const { description, input, calls, ...limits } = readHeader(written);
  return Object.freeze({
    [toolMark]: true as const,
    name,
    description,
    input: fromJsonSchema(input),
    ...programFlags,
    // All of the text, so that an error names the line of the file.
    execute: async (args, runtime) => (await executeProgram({ source: text, input: args, limits, names: calls }, runtime)).value,
  } satisfies Tool);
}
