import type { DecisionSource } from "../protocol/approval.ts";
import type { FactOf } from "../protocol/fact.ts";
import { show } from "./explain/phrases.ts";

const deciders: Readonly<Record<DecisionSource, string>> = {
  person: "by you",
  memory: "as before in this run",
  rule: "by a rule of this run",
  approve_all: "by approve_all",
  reject_all: "by reject_all",
  nobody: "because nobody can be asked",
  repeated: "because it was denied twice",
  timeout: "because nobody answered in time",
  error: "because the approver failed",
};

const words = { approve: "approved", deny: "denied", stop: "stopped" } as const;

type SettledCall = Pick<FactOf<"decision">, "decision" | "source" | "stops">;

/** `denied by you: wrong folder`, `approved as {"path":"b.txt"} by you`. A note that only repeats what the source says is left out. */
export function renderDecision({ decision, source, stops }: SettledCall): string {
  const { type, note } = decision;
  const said = note !== undefined && (source === "person" || source === "error") ? `: ${show(note)}` : "";
  const edited = type === "approve" && decision.args ? ` as ${show(JSON.stringify(decision.args))}` : "";
  return `${words[type]}${edited} ${deciders[source]}${said}${stops && type === "deny" ? ", and the run stops for it" : ""}`;
}
