import type { AnswerPolicy } from "../../effects/answerer.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { Fact, Outcome } from "../../protocol/fact.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";

export interface FromRecordOptions {
  /** Tools without side effects that are not recorded run. Default: their case is left out. */
  readonly liveReads: boolean;
  /** Called with each tool whose answer is not recorded. */
  readonly onMissing: (tool: string) => void;
}

/**
 * Answers tools from the record of a call by what they are called with, wherever in the tree they are called, and everything else live. A
 * recorded tool that is called more often than it was answers as it did last. One that is not recorded runs only if it changes nothing and
 * live reads are allowed; the model is told of any other that it was denied.
 */
export function answeredByContent({ liveReads, onMissing }: FromRecordOptions): AnswerPolicy {
  return ({ facts }) => {
    const outcomes = outcomesByContent(facts);
    const calls = new Map<CallPath, { readonly tool: string; readonly content: string }>();
    return {
      accept: (fact) => {
        if (fact.type === "verdict") calls.set(fact.callPath, { tool: fact.tool, content: contentOf(fact.tool, fact.args) });
        // A tool that looks at its call may not find what was there.
        if (fact.type === "refusal" && fact.tool !== "" && fact.error.type !== "invalid_arguments") onMissing(fact.tool);
        return true;
      },
      answer: ({ kind, callPath, sideEffect }) => {
        const call = calls.get(callPath);
        if (kind !== "tool" || !call) return undefined;
        const known = outcomes.get(call.content);
        const outcome = known && known.length > 1 ? known.shift() : known?.[0];
        if (outcome || (liveReads && !sideEffect)) return outcome;
        onMissing(call.tool);
        const error = `\`${call.tool}\` is not recorded with these arguments, and nothing runs in a comparison`;
        return { type: "value", value: { ok: false, error: { type: "denied", error } } };
      },
    };
  };
}

function contentOf(tool: string, args: JsonObject): string {
  return `${tool} ${canonicalJson(args)}`;
}

/** In the order of the calls. */
function outcomesByContent(facts: readonly Fact[]): ReadonlyMap<string, Outcome[]> {
  const contents = new Map<CallPath, string>();
  const outcomes = new Map<string, Outcome[]>();
  for (const fact of facts) {
    if (fact.type === "verdict") contents.set(fact.callPath, contentOf(fact.tool, fact.args));
    const content = fact.type === "result" && fact.kind === "tool" ? contents.get(fact.callPath) : undefined;
    if (fact.type !== "result" || content === undefined || fact.outcome.type === "interrupted") continue;
    outcomes.set(content, [...(outcomes.get(content) ?? []), fact.outcome]);
  }
  return outcomes;
}
