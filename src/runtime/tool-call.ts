import type { GatedToolset } from "../approval/gate-types.ts";
import { childCallPath } from "../protocol/call.ts";
import type { ToolCallPart, ToolResult, ToolResultPart } from "../protocol/message.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { reportCall } from "./report-call.ts";
import { unknownTool } from "./unknown-tool.ts";
import { createWorkerRuntime } from "./worker-runtime.ts";

/**
 * Answers the tool calls of one response: side by side, except tools marked sequential, which wait for all calls before
 * them and hold up all after them. The results stand in the order of the calls, whatever finished first. Where one of them
 * ends this call, the others are aborted and waited for.
 */
export async function answerToolCalls(
  call: CallConfig,
  frame: CallFrame,
  parts: readonly ToolCallPart[],
): Promise<ToolResultPart[]> {
  for (const _ of parts) call.account.spendToolCall();
  const pending: Promise<ToolResultPart>[] = [];
  try {
    for (const part of parts) {
      const toolset = call.toolsets.find((candidate) => candidate.has(part.name));
      const sequential = toolset?.isSequential(part.name) ?? false;
      if (sequential) await Promise.all(pending);
      pending.push(answerToolCall(call, part, { toolset, ordinal: frame.toolCalls++ }));
      if (sequential) await pending.at(-1);
    }
    return await Promise.all(pending);
  } catch (thrown) {
    call.abort(thrown);
    await Promise.allSettled(pending);
    throw thrown;
  }
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
  const bounded = call.account.bounded.bind(call.account);
  const runtime = createWorkerRuntime(call, place.callPath, toolset.callsOf(part.name));
  return toolset.call({
    name: part.name,
    args: part.args,
    ...place,
    caller: call.worker.name,
    callerId: call.worker.id,
    runtime,
    bounded,
  });
}

function toolNames({ toolsets }: CallConfig): string[] {
  return toolsets.flatMap(({ definitions }) => definitions.map(({ name }) => name));
}
