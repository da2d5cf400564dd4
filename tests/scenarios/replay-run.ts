import { expect } from "vitest";
import { type RecordedRun, replayFacts } from "../../src/front/replay.ts";
import { compileOptions } from "../../src/front/requests.ts";
import { compile, type RunEvent, type RunRequest } from "../../src/index.ts";
import type { Program } from "../../src/program/program.ts";

/** The program of a request, compiled before its run changes anything; undefined where it does not compile. */
export async function compileToReplay(request: RunRequest): Promise<Program | undefined> {
  if (request.program) return request.program;
  const source = Object.fromEntries(Object.entries(request).filter(([option]) => Object.hasOwn(compileOptions.table, option)));
  try {
    const { program } = await compile({ ...source, rules: request.approval?.rules ?? [], toRun: true });
    return program;
  } catch {
    return undefined;
  }
}

export interface PlayedRun extends Required<Pick<RecordedRun, "host" | "facts" | "secrets" | "debug">> {
  readonly events: readonly RunEvent[];
}

/**
 * Plays a recorded run again, on a host that throws on any touch: the same facts, the same effects, and the same events of each
 * call but for times, messages, pieces of text, progress and the numbering of questions.
 */
export async function expectSameReplay(program: Program, { host, facts, secrets, debug, events }: PlayedRun): Promise<void> {
  const replayed: RunEvent[] = [];
  const report = await replayFacts(program, { host, facts, secrets, debug, onEvent: (event) => replayed.push(event) });
  expect({ differences: report.differences, drifts: report.drifts }).toEqual({ differences: [], drifts: [] });
  // When a run is stopped, parallel code may have begun a call that has no fact yet.
  const reached = new Set(facts.flatMap((fact) => ("callPath" in fact ? [fact.callPath] : [])));
  const end = facts.at(-1);
  const counts = ({ callPath }: RunEvent) => (end?.type === "run-end" && end.stopReason === "done") || reached.has(callPath);
  if (events.length > 0) expect(byCall(replayed.filter(counts))).toEqual(byCall(events.filter(counts)));
}

function byCall(events: readonly RunEvent[]): Record<string, unknown[]> {
  const calls: Record<string, Record<string, unknown>[]> = Object.create(null);
  for (const event of events) {
    if (event.type.endsWith("-delta") || ["message", "progress", "warning"].includes(event.type)) continue;
    const { time: _, ...rest } = event;
    calls[event.callPath] = [...(calls[event.callPath] ?? []), withoutPassing(rest)];
  }
  return Object.fromEntries(Object.entries(calls).map(([path, own]) => [path, own.filter(hasFact)]));
}

/** A call that was cut short may have begun its turn or not: no fact says so before the request. */
function hasFact({ type }: Record<string, unknown>, index: number, own: readonly Record<string, unknown>[]): boolean {
  const next = own[index + 1]?.["type"];
  return type !== "turn-start" || (next !== undefined && next !== "limit" && next !== "call-end");
}

function withoutPassing(event: Record<string, unknown>): Record<string, unknown> {
  const { milliseconds: _, delayMilliseconds: __, afterOutput: ___, stack: ____, ...rest } = event;
  const request = rest["request"];
  return typeof request === "object" ? { ...rest, request: { ...request, position: undefined } } : rest;
}
