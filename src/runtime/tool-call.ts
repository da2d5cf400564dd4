import type { GatedToolset } from "../approval/gate-types.ts";
import { childCallPath } from "../protocol/call.ts";
import type { ToolCallPart, ToolResult, ToolResultPart } from "../protocol/message.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { reportCall } from "./report-call.ts";
import { LimitReached } from "./run-error.ts";
import { spendWithin } from "./spend-within.ts";
import { unknownTool } from "./unknown-tool.ts";
import { placeOfTool, toGatedCall } from "./worker-runtime.ts";

/** The results of a turn's calls, in their order. */
export interface AnsweredCalls {
  readonly parts: readonly ToolResultPart[];
  /** The limit that only the first of them fitted into; the others were not made, and their results say so. */
  readonly reached: LimitReached | undefined;
}

/**
 * Answers the tool calls of one response: side by side, except tools marked sequential, which wait for all calls before
 * them and hold up all after them. The results stand in the order of the calls, whatever finished first. Where one of them
 * ends this call, the others are aborted and waited for.
 */
export async function answerToolCalls(
  call: CallConfig,
  frame: CallFrame,
  parts: readonly ToolCallPart[],
): Promise<AnsweredCalls> {
  const { allowed, reached } = spendToolCalls(call, frame.toolCalls, parts.length);
  const pending: Promise<ToolResultPart>[] = [];
  try {
    for (const part of parts.slice(0, allowed)) {
      const toolset = call.toolsets.find((candidate) => candidate.has(part.name));
      const sequential = toolset?.isSequential(part.name) ?? false;
      if (sequential) await Promise.all(pending);
      pending.push(answerToolCall(call, part, { toolset, ordinal: frame.toolCalls++ }));
      if (sequential) await pending.at(-1);
    }
    const refused = parts.slice(allowed).map((part) => refusedPart(part, reached));
    return { parts: [...(await Promise.all(pending)), ...refused], reached };
  } catch (thrown) {
    call.abort(thrown);
    await Promise.allSettled(pending);
    throw thrown;
  }
}

/** How many of the calls the limits allow. */
function spendToolCalls(
  { run, callPath, account }: CallConfig,
  first: number,
  wanted: number,
): { allowed: number; reached: LimitReached | undefined } {
  for (let allowed = 0; allowed < wanted; allowed++) {
    try {
      spendWithin(run.effects, { callPath, key: `call ${first + allowed}` }, () => account.spendToolCall());
    } catch (thrown) {
      if (thrown instanceof LimitReached) return { allowed, reached: thrown };
      throw thrown;
    }
  }
  return { allowed: wanted, reached: undefined };
}

function refusedPart({ id, name }: ToolCallPart, reached: LimitReached | undefined): ToolResultPart {
  const error = `${reached?.message ?? "a limit is reached"}; this call was not made`;
  return { type: "tool-result", id, name, result: { ok: false, error: { type: "limit", error } } };
}

interface ToolPlace {
  readonly toolset: GatedToolset | undefined;
  readonly ordinal: number;
}

async function answerToolCall(call: CallConfig, part: ToolCallPart, { toolset, ordinal }: ToolPlace): Promise<ToolResultPart> {
  const place = { callPath: childCallPath(call.callPath, ordinal, part.name), depth: call.depth };
  const debug = call.run.debug || call.worker.debug;
  const reported = { ...place, tool: part.name, args: part.args, debug };
  const result = await reportCall(call.run, reported, () => resultOf(call, part, { toolset, place }));
  return { type: "tool-result", id: part.id, name: part.name, result };
}

async function resultOf(
  call: CallConfig,
  part: ToolCallPart,
  {
    toolset,
    place,
  }: { readonly toolset: GatedToolset | undefined; readonly place: { readonly callPath: string; readonly depth: number } },
): Promise<ToolResult> {
  if (!toolset) return { ok: false, error: unknownTool(part.name, toolNames(call)).toolError };
  if (part.invalidArgs !== undefined) {
    return {
      ok: false,
      error: {
        type: "invalid_arguments",
        error: "the arguments are not valid JSON, or hold a key twice",
        hint: "call it again with one JSON object",
      },
    };
  }
  const { name, args } = part;
  return toolset.call(toGatedCall(placeOfTool(call, place.callPath, toolset.callsOf(name)), { name, args }));
}

function toolNames({ toolsets }: CallConfig): string[] {
  return toolsets.flatMap(({ definitions }) => definitions.map(({ name }) => name));
}
