import { type CallPath, parentCallPath } from "../../protocol/call.ts";
import type { Fact, FactOf } from "../../protocol/fact.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";

/** An answer of a worker's code that its prompt is asked for, too. */
export interface CodeAnswer {
  /** The worker's id. */
  readonly id: string;
  readonly start: FactOf<"call-start">;
  readonly output: JsonValue;
}

/** Folds the answers of code that are checked: those whose end names the worker under `check`. */
export function createCodeAnswersState() {
  const open = new Map<CallPath, FactOf<"call-start">>();
  const answers = new Map<CallPath, CodeAnswer>();
  return {
    apply: (fact: Fact): void => {
      if (fact.type === "call-start" && fact.kind === "worker") open.set(fact.callPath, fact);
      if (fact.type !== "call-end") return;
      const start = open.get(parentCallPath(fact.callPath) ?? "");
      const { output } = fact;
      if (start && isRecord(output) && output["type"] === "answer" && typeof output["check"] === "string")
        answers.set(start.callPath, { id: output["check"], start, output: output["output"] as JsonValue });
      open.delete(fact.callPath);
    },
    list: (): readonly CodeAnswer[] => [...answers.values()],
  };
}
