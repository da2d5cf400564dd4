import type { Effect } from "../../effects/effects.ts";
import { nowKey, stepKey } from "../../effects/keys.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { toolFailure, type WorkerRuntime } from "../../toolsets/toolset.ts";
import { abortable } from "../../util/async/abortable.ts";
import { toJsonValue } from "../../util/json/to-json-value.ts";
import { sha256 } from "../../util/sha256.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { RuntimeConfig } from "../config.ts";

interface SteppingCall {
  readonly run: Pick<RuntimeConfig, "effects" | "host">;
  readonly callPath: string;
  readonly signal: AbortSignal;
}

/** Records steps of code besides its calls, so that it can be entered again in a run that goes on. */
export function createSteps({ run, callPath, signal }: SteppingCall): Pick<WorkerRuntime, "step" | "now"> {
  const names = new Set<string>();
  let looks = 0;
  const perform = (key: string, work: () => Promise<JsonValue>): Promise<JsonValue> => {
    const record = { callPath, key, kind: "step" as const, digest: sha256(key), sideEffect: false, announced: false, detail: {} };
    const result = run.effects.perform({ record, codec, work } satisfies Effect<JsonValue>, signal);
    // A caller that does not await its step must not end the process.
    result.catch(() => undefined);
    return result;
  };
  return {
    step: async (name, fn) => {
      if (typeof name !== "string" || name === "") throw toolFailure("invalid_arguments", "a step needs a name");
      if (names.has(name)) throw toolFailure("invalid_arguments", `the step \`${name}\` is there twice in one call`);
      names.add(name);
      return (await perform(
        stepKey(name),
        async () => toJsonValue(await abortable((async () => fn())(), signal)) as JsonValue,
      )) as never;
    },
    now: async () => Number(await perform(nowKey(++looks), async () => run.host.clock.now())),
  };
}

const codec = {
  encode: (value: JsonValue): JsonValue => ({ value }),
  decode: (recorded: JsonValue) => (recorded as JsonObject)["value"] ?? null,
  encodeError: (thrown: unknown) => ({ message: String(errorMessage(thrown)) }),
  decodeError: ({ message }: JsonObject) => new Error(String(message)),
};
