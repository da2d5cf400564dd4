import type { JsonValue } from "../protocol/json.ts";
import { copyJson } from "../util/json/plain-json.ts";
import type { Gated, GatedCall } from "./gate-types.ts";

/** A call as it is judged and made: under the worker's own name, where its toolset forwards calls. */
export interface Forwarded {
  readonly gated: Gated;
  readonly request: GatedCall;
  readonly toResult: (output: JsonValue) => JsonValue;
}

/** Throws a `ToolFailure` if no worker can be called so. Synchronous: the call has no ticket yet. */
export function forwardCall(gated: Gated, request: GatedCall): Forwarded {
  const { binding, tools } = gated;
  const via = tools.get(request.name);
  if (!binding.forward || !via) return { gated, request, toResult: (output) => output };
  const {
    name,
    toolset,
    tools: offered,
    args,
    extraContext,
    toResult,
  } = binding.forward(copyJson(request.args), request.runtime);
  const preApproved = binding.approvals.get(via.name) ?? binding.approvals.get("*");
  const approvals = new Map(preApproved === undefined ? [] : [[name, preApproved]]);
  return {
    gated: {
      ...gated,
      binding: { reference: name, toolset, config: undefined, tools: offered, approvals },
      tools: new Map(offered.map((tool) => [name, tool])),
    },
    request: {
      ...{ ...request, name, args, ...(extraContext ? { extraContext } : {}) },
      via: { name: request.name, args: request.args, reference: binding.reference, tool: via },
    },
    toResult,
  };
}
