import { existsSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProgram, type ProgramLimits, type ProgramTurn } from "../../src/host/program-engine.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { parseJson } from "../../src/util/json/parse-json.ts";
import { hostilePrograms } from "./fixtures/hostile-programs.ts";

const limits: ProgramLimits = { memoryBytes: 16 << 20, milliseconds: 400, calls: 50, characters: 1_000_000 };

interface Ran {
  readonly end: ProgramTurn["end"];
  readonly calls: readonly string[];
  readonly printed: readonly string[];
}

/** Runs a program; `x` answers with its input, all others fail. Undefined: it waits for nothing. */
async function runProgram(source: string, input: object = {}, most = limits): Promise<Ran> {
  const engine = openProgram({ source, input: JSON.stringify(input), most }, new AbortController().signal);
  const calls: string[] = [];
  const printed: string[] = [];
  try {
    let turn = await engine.next([]);
    for (;;) {
      calls.push(...turn.calls);
      printed.push(...turn.printed);
      if (turn.end || turn.calls.length === 0) return { end: turn.end, calls, printed };
      const first = calls.length - turn.calls.length;
      const answers = turn.calls.map((text, index) => {
        const { name, input: given = null } = (parseJson(text) ?? {}) as JsonObject;
        const id = first + index;
        return name === "x" ? { id, value: given } : { id, error: { type: "denied" as const, error: "no" } };
      });
      turn = await engine.next(answers);
    }
  } finally {
    await engine.close();
  }
}

test("a program has the language, and nothing of a machine", async () => {
  const { end } = await runProgram("return Object.getOwnPropertyNames(globalThis).sort()");
  const errors = "AggregateError Error EvalError InternalError RangeError ReferenceError SyntaxError TypeError URIError";
  const arrays =
    "Array ArrayBuffer BigInt64Array BigUint64Array DataView Float16Array Float32Array Float64Array Int16Array Int32Array";
  const others = "Int8Array SharedArrayBuffer Uint16Array Uint32Array Uint8Array Uint8ClampedArray";
  const values =
    "BigInt Boolean Function Infinity Iterator JSON Map Math NaN Number Object Promise Proxy Reflect RegExp Set String Symbol";
  const functions =
    "decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval isFinite isNaN parseFloat parseInt unescape";
  const rest = "WeakMap WeakSet globalThis undefined";
  const own = "budget call map phase print unsure";
  const names = [errors, arrays, others, values, functions, rest, own].join(" ").split(" ");
  expect(JSON.parse(end?.text ?? "")).toEqual({ value: names.sort() });
});

test("a program is paused while it waits for its calls, and its time is that of its own work", async () => {
  const most = { ...limits, milliseconds: 2000 };
  const engine = openProgram({ source: 'return call("x")', input: "{}", most }, new AbortController().signal);
  expect(await engine.next([])).toEqual({ calls: ['{"name":"x","input":{}}'], printed: [] });
  await new Promise((resolve) => setTimeout(resolve, most.milliseconds + 700));
  expect(await engine.next([{ id: 0, value: 1 }])).toMatchObject({ end: { type: "end", text: '{"value":1}' } });
  await engine.close();
});

test("an abort ends a program that computes", async () => {
  const controller = new AbortController();
  const most = { ...limits, milliseconds: 3_600_000 };
  const engine = openProgram({ source: "for (;;) {}", input: "{}", most }, controller.signal);
  const turn = engine.next([]);
  controller.abort(new Error("enough"));
  await expect(turn).rejects.toThrow("enough");
  await engine.close();
});

test.each([2e6, 2e7, 1e8])("a result of %i characters leaves the process alone", async (length) => {
  const engine = openProgram(
    { source: 'return (await call("x")).length', input: "{}", most: limits },
    new AbortController().signal,
  );
  await engine.next([]);
  const { end } = await engine.next([{ id: 0, value: "y".repeat(length) }]);
  expect(end).toMatchObject(
    length < 8e6 ? { text: `{"value":${length}}` } : { type: "stopped", text: expect.stringContaining("larger than its memory") },
  );
  await engine.close();
});

describe("hostile programs", () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-hostile-programs-"));
  const canary = join(folder, "canary");
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  const isWhole = process.env["LLM_DO_PROGRAMS"] === "all";
  const played = hostilePrograms
    .map((source, number) => [number, source] as const)
    .filter(([number]) => isWhole || number % 8 === 0);

  test.each(played)("number %i has no power but `call`, and ends: %s", async (_, source) => {
    const { port } = server.address() as AddressInfo;
    const { end, calls, printed } = await runProgram(source.replaceAll("CANARY", canary).replaceAll("PORT", String(port)));
    expect(calls.length).toBeLessThanOrEqual(limits.calls);
    expect(JSON.stringify([calls, printed, end]).length).toBeLessThan(3 * limits.characters);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({ polluted: ({} as Record<string, unknown>)["polluted"], wrote: existsSync(canary), connections }).toEqual({
      ...{ polluted: undefined, wrote: false, connections: 0 },
    });
    expect(JSON.stringify(end) ?? "").not.toContain("[object process]");
  });
});
