import type { JsonObject } from "../../protocol/json.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { needsApproval, type PreparedToolsetCall, type Tool, toolMark, toolsetMark } from "../toolset.ts";

/** A program's entry, as far as a question about it needs to know it. */
export interface AskedEntry {
  readonly name: string;
  /** Absent for code. */
  readonly model?: string;
}

/**
 * The start of a run as a tool of the entry's name, with its input as arguments: the gate can then ask for it. Its result is the input
 * that was approved, which an approver may have edited.
 */
export function entryToolset({ name, model }: AskedEntry) {
  const verdict = needsApproval("the run asks before its entry begins");
  const tool: Tool = {
    [toolMark]: true,
    name,
    description: `Starts ${name}.`,
    input: fromJsonSchema({ type: "object" }),
    sideEffect: false,
    execute: (input: JsonObject) => input,
  };
  const tools = [tool];
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name,
    tools: () => tools,
    outlook: () => [verdict],
    needsApproval: () => verdict,
    describeCall: ({ args }: PreparedToolsetCall) =>
      `Start ${model === undefined ? name : `the worker ${name} (${model})`} with ${clipText(JSON.stringify(args), 200)}`,
  });
  const approvals: ReadonlyMap<string, boolean> = new Map();
  return { reference: name, toolset, config: undefined, approvals, tools, fromCode: true } as const;
}
