import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { type MapOptions, ToolFailure, toolFailure, type WorkerRuntime } from "./toolset.ts";

/**
 * Makes `WorkerRuntime.map` of `WorkerRuntime.call`. Calls begin in the order of the inputs, and their keys are made of the indexes, so
 * that a replay tells equal inputs apart.
 */
export function createMap(call: WorkerRuntime["call"]): WorkerRuntime["map"] {
  return async (name, inputs, options = {}) => {
    checkMap(inputs, options);
    const { concurrency = inputs.length, key = "map", ...others } = options;
    const results: ToolResult[] = [];
    let next = 0;
    const callInTurn = async () => {
      for (let index = next++; index < inputs.length; index = next++) {
        const made = call(name, inputs[index], { ...others, key: `${key}[${index}]` });
        results[index] = await made.then(toResult, toFailure).catch((thrown: unknown) => {
          // The caller itself ends: no further call begins.
          next = inputs.length;
          throw thrown;
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, inputs.length) }, callInTurn));
    return results;
  };
}

function toResult(value: JsonValue): ToolResult {
  return { ok: true, value };
}

/** Rethrows what is no failure of the call alone. */
function toFailure(thrown: unknown): ToolResult {
  if (thrown instanceof ToolFailure) return { ok: false, error: thrown.toolError };
  throw thrown;
}

/** Throws a `ToolFailure` for inputs that are no list, and for options that there are not. */
function checkMap(inputs: unknown, { concurrency = 1, key = "", extraContext: _, ...others }: MapOptions): void {
  if (!Array.isArray(inputs)) throw toolFailure("invalid_arguments", "`map` takes a list of inputs, one for each call");
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw toolFailure("invalid_arguments", "`concurrency` has to be a whole number from 1 on");
  if (typeof key !== "string") throw toolFailure("invalid_arguments", "`key` has to be a text");
  const [unknown] = Object.keys(others);
  const there = "there are `concurrency`, `extraContext` and `key`";
  if (unknown !== undefined) throw toolFailure("invalid_arguments", `\`map\` has no option \`${unknown}\`; ${there}`);
}
