import { referToWorker, UneditableWorker } from "../language/edit-frontmatter.ts";
import { printSettings } from "../language/print-worker-file.ts";
import type { Program, ToolsetReference } from "../program/program.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Outline } from "../protocol/outline.ts";
import type { Tool } from "../toolsets/toolset.ts";
import type { RecordedToolCall } from "./calls/read-tool-calls.ts";
import { CandidateError } from "./candidate.ts";
import { inferSchema } from "./types/infer-schema.ts";

/** A worker whose `toolsets` names the tool. */
export interface CallerOfTool {
  /** Relative to the program's folder. */
  readonly file: string;
  readonly written: string;
}

/** Finds the tool that a file exports, and the workers that name it. Throws a `CandidateError` if the program has none. */
export function findTool(
  { outline, program }: { readonly outline: Outline; readonly program: Program },
  { path, name }: { readonly path: string; readonly name: string },
): { readonly tool: Tool; readonly callers: readonly CallerOfTool[] } {
  const named = outline.workers.flatMap(({ id, file, toolsets }) =>
    toolsets
      .filter((one) => one.kind === "code" && one.file === path && one.tools.some((each) => each.name === name))
      .map(({ reference }) => ({ id, file, written: reference })),
  );
  const toolOf = ({ id, written }: { readonly id: string; readonly written: string }) =>
    program.workers.get(id)?.toolsets.find(({ reference }) => reference === written);
  const callers = named.filter((one) => isAlone(toolOf(one), name));
  const [first] = callers;
  const found = (first && toolOf(first)?.tools[0]) ?? program.callables.get(name)?.tools[0];
  if (found && (first || !program.callables.get(name)?.worker)) return { tool: found, callers };
  const more = named.length > 0 ? `; it is a part of the toolset \`${named[0]?.written}\`` : "";
  throw new CandidateError(`no worker of the program names the tool \`${name}\` of ${path} under \`toolsets\`${more}`);
}

/** A toolset of several tools is more than this one. */
function isAlone(toolset: ToolsetReference | undefined, name: string): boolean {
  return toolset?.tools.length === 1 && toolset.toolset.name === name && toolset.tools[0]?.name === name;
}

/** Says why a tool cannot be the code of a worker. Undefined if it can. */
export function findObstacleToSoften({ name, sideEffect, replayable }: Tool): string | undefined {
  if (sideEffect === false || replayable === true) return undefined;
  return (
    `\`${name}\` may change something, and the code of a worker is entered again in a replay and in a run that goes on: ` +
    "give the tool `sideEffect: false`, or `replayable: true` where it does everything by calls"
  );
}

/**
 * Prints the worker that takes the place of a tool: its description, its input, the output that was recorded, and the tool as the code that
 * answers first. It has no instructions yet, so that a failure of the code stays a failure of the call.
 */
export function printSoftened(tool: Tool, reference: string, recorded: readonly RecordedToolCall[]): string {
  const { description, input, calls = [] } = tool;
  const outputs = recorded.flatMap(({ output }) => (output === undefined ? [] : [output]));
  const isText = outputs.length > 0 && outputs.every((output) => typeof output === "string");
  const settings: JsonObject = {
    ...(description === "" ? {} : { description }),
    input: input.jsonSchema as JsonObject,
    // Anything, where nothing is recorded.
    ...(isText ? {} : { output: { $schema: draft, ...(outputs.length > 0 ? (inferSchema(outputs) as JsonObject) : {}) } }),
    ...(calls.length > 0 ? { toolsets: Object.fromEntries(calls.map((name) => [name, {}])) } : {}),
    code: reference,
  };
  return `---\n${printSettings(settings)}# Write below what to do where the code throws or is unsure. Without that such a call fails, as before.\n---\n`;
}

const draft = "https://json-schema.org/draft/2020-12/schema";

/** Prints the recorded calls as cases of the worker. Failures are marked wrong, and have no output. */
export function printToolCases(worker: string, recorded: readonly RecordedToolCall[]): string {
  return recorded
    .map(({ from, input, output }) => {
      const shared = { worker, input, output: output ?? null, from, by: "code" };
      return `${JSON.stringify(output === undefined ? { ...shared, label: { verdict: "wrong" } } : shared)}\n`;
    })
    .join("");
}

export interface Reference {
  /** As the caller's `toolsets` has it. */
  readonly written: string;
  readonly name: string;
  /** The tool is pre-approved by itself, which a worker is not. */
  readonly preApproved: boolean;
}

/** The text of a caller's file whose tool is a worker now. Throws a `CandidateError` if it cannot be changed by line. */
export function withWorker(text: string, file: string, reference: Reference): string {
  try {
    return referToWorker(text, reference);
  } catch (thrown) {
    if (!(thrown instanceof UneditableWorker)) throw thrown;
    throw new CandidateError(`${file}: ${thrown.message}`);
  }
}
