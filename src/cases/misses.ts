import { describeChange } from "../effects/describe-change.ts";
import type { Effects } from "../effects/effects.ts";
import { type ReadSource, withPlace } from "../effects/place-change.ts";
import { RequestChanged } from "../effects/policies/request-changed.ts";
import { ModelError } from "../models/model.ts";
import { errorMessage } from "../util/text/error-message.ts";

/**
 * Notes each request that a script or a recording has no answer for. It fails the case whatever the program makes of it: a worker
 * that calls another one goes on without its answer.
 */
export function noteMisses(effects: Effects, misses: string[], readSource: ReadSource): Effects {
  return {
    ...effects,
    perform: async (effect, signal) => {
      try {
        return await effects.perform(effect, signal);
      } catch (thrown) {
        const miss = await describeMiss(thrown, readSource);
        if (miss !== undefined) misses.push(miss);
        throw thrown;
      }
    },
  };
}

async function describeMiss(thrown: unknown, readSource: ReadSource): Promise<string | undefined> {
  if (thrown instanceof RequestChanged)
    return `does not fit the program: ${await withPlace(describeChange(thrown), thrown, readSource)}; --record records it anew, --live asks the model`;
  if (thrown instanceof ModelError && thrown.code === "unexpected_request") return errorMessage(thrown);
  return undefined;
}
