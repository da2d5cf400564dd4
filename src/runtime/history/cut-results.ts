import type { GatedToolset } from "../../approval/gate-types.ts";
import type { ResultKeeper } from "../../journal/stores/store.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { ToolResult, ToolResultPart } from "../../protocol/message.ts";
import { readResultName, readResultToolset, showPart } from "../../toolsets/results/read-result.ts";
import { sha256 } from "../../util/sha256.ts";
import type { CallConfig, CallFrame } from "../config.ts";

/** The whole texts of results that were cut, in the run's record, or in memory where there is none or it cannot be written. */
export class KeptResults {
  readonly #kept: ResultKeeper | undefined;
  readonly #unwritten = new Map<CallPath, string>();

  constructor(kept: ResultKeeper | undefined) {
    this.#kept = kept;
  }

  /** `callPath`: of the call that has the result. Never rejects. */
  async keep(callPath: CallPath, text: string): Promise<void> {
    const kept = this.#kept?.keep(nameOf(callPath), text) ?? Promise.reject(new Error("there is no record"));
    await kept.catch(() => this.#unwritten.set(callPath, text));
  }

  /** Undefined for a result that was not kept, or that is gone. */
  async read(callPath: CallPath): Promise<string | undefined> {
    return this.#unwritten.get(callPath) ?? this.#kept?.read(nameOf(callPath));
  }
}

function nameOf(callPath: CallPath): string {
  return `${sha256(callPath).slice(0, 32)}.txt`;
}

/** The results of one call of a worker that were cut, and the tool that reads on in them. */
export interface CutResults {
  readonly toolset: GatedToolset;
  /** The calls that have the results, by the ids that the model knows them by. */
  readonly callPaths: Map<string, CallPath>;
  readonly ids: WeakMap<ToolResultPart, string>;
}

/** A result as a call came to it. */
export interface CompleteResult {
  readonly part: ToolResultPart;
  readonly callPath: CallPath;
}

/**
 * Cuts a result that is longer than the worker's `context.max_result`, and keeps the whole for `read_result`. The cut form is recorded:
 * a replayed run needs no whole one.
 */
export function cutResult(
  call: CallConfig,
  frame: CallFrame,
  { callPath, part }: CompleteResult,
): ToolResultPart | Promise<ToolResultPart> {
  const text = textOf(part.result);
  if (text.length <= call.worker.context.maxResult || part.name === readResultName) return part;
  return cut(call, frame, { callPath, part, text });
}

interface LongResult {
  readonly callPath: CallPath;
  readonly part: ToolResultPart;
  readonly text: string;
}

async function cut(call: CallConfig, frame: CallFrame, { callPath, part, text }: LongResult): Promise<ToolResultPart> {
  const { run, worker } = call;
  const { maxResult } = worker.context;
  const cuts = frame.cuts ?? createCuts(call);
  frame.cuts = cuts;
  const id = `r${cuts.callPaths.size + 1}`;
  cuts.callPaths.set(id, callPath);
  const key = { callPath, key: "cut" };
  if (!run.effects.recall("cut", key)) {
    await run.effects.requireLive({ ...key, what: "a result that is cut", signal: call.signal });
    await run.keptResults.keep(callPath, text);
  }
  call.signal.throwIfAborted();
  const { shown } = run.effects.decideOnce("cut", key, {
    decide: () => ({ tool: part.name, id, characters: text.length, shown: showPart(text, { id, offset: 0, most: maxResult }) }),
  });
  const shortened = { ...part, result: withText(part.result, shown) };
  cuts.ids.set(shortened, id);
  return shortened;
}

function createCuts({ run, worker }: CallConfig): CutResults {
  const callPaths = new Map<string, CallPath>();
  const read = async (id: string) => {
    const callPath = callPaths.get(id);
    return callPath === undefined ? undefined : run.keptResults.read(callPath);
  };
  return { callPaths, ids: new WeakMap(), toolset: run.gate.gate(readResultToolset({ most: worker.context.maxResult, read })) };
}

/** The toolsets of a call: its worker's, the workers that it created, and the one that reads cut results as soon as there is one. */
export function toolsetsOf(
  { toolsets }: Pick<CallConfig, "toolsets">,
  { cuts, created }: Pick<CallFrame, "cuts" | "created">,
): readonly GatedToolset[] {
  // Calls of one turn can end in another order in each attempt: the order of the tools must not depend on it.
  const inOrder = [...created.values()].sort((one, other) => one.ordinal - other.ordinal);
  return [...toolsets, ...inOrder.map(({ toolset }) => toolset), ...(cuts ? [cuts.toolset] : [])];
}

/** The part of a result that grows with what a tool has to say. */
export function textOf(result: ToolResult): string {
  if (!result.ok) return result.error.details ? JSON.stringify(result.error) : result.error.error;
  return typeof result.value === "string" ? result.value : JSON.stringify(result.value);
}

/** The result with another text; it stays a failure where it is one. */
export function withText(result: ToolResult, text: string): ToolResult {
  if (result.ok) return { ...result, value: text };
  const { details: _, ...error } = result.error;
  return { ok: false, error: { ...error, error: text } };
}
