import { type CallPath, parentCallPath, type StopReason } from "../protocol/call.ts";
import type { EventSink } from "../protocol/event.ts";
import type { JsonValue } from "../protocol/json.ts";
import { noUsage, type Usage } from "../protocol/usage.ts";

/** A call that was requested, executed or not. */
export interface ObservedCall {
  /** The worker, or the code, that made it. */
  readonly worker: string;
  readonly tool: string;
  readonly args: JsonValue;
}

/** Describes a run, as far as expectations look at it. */
export interface Observation {
  readonly stop: StopReason;
  /** The message of a run that failed. */
  readonly error?: string;
  readonly output?: JsonValue;
  readonly calls: readonly ObservedCall[];
  readonly asked: readonly ObservedCall[];
  readonly refused: readonly ObservedCall[];
  /** Those that were executed, and did not fail. */
  readonly succeeded: readonly ObservedCall[];
  /** Answers of a model, in all calls. */
  readonly turns: number;
  readonly usage: Usage;
  readonly milliseconds: number;
}

/** Collects the events of one run. */
export class Observer {
  readonly calls: ObservedCall[] = [];
  readonly asked: ObservedCall[] = [];
  readonly refused: ObservedCall[] = [];
  readonly succeeded: ObservedCall[] = [];
  turns = 0;
  usage: Usage = noUsage;
  stop: StopReason = "failed";
  readonly #names = new Map<CallPath, string>();
  readonly #open = new Map<CallPath, ObservedCall>();

  readonly onEvent: EventSink = (event) => {
    const { callPath } = event;
    switch (event.type) {
      case "call-start":
        this.#names.set(callPath, event.name);
        break;
      case "turn-end":
        this.turns++;
        break;
      case "tool-call": {
        const call = { worker: this.#callerOf(callPath), tool: event.tool, args: event.args };
        this.calls.push(call);
        this.#open.set(callPath, call);
        break;
      }
      case "approval-decision": {
        const call = this.#open.get(callPath);
        if (call && event.source === "approve_all") this.asked.push(call);
        break;
      }
      case "tool-result": {
        const call = this.#open.get(callPath);
        const { result } = event;
        if (call && result.ok) this.succeeded.push(call);
        if (call && !result.ok && ["denied", "blocked"].includes(result.error.type)) this.refused.push(call);
        break;
      }
      case "run-end":
        [this.stop, this.usage] = [event.stopReason, event.usage];
        break;
    }
  };

  #callerOf(callPath: CallPath): string {
    return this.#names.get(parentCallPath(callPath) ?? callPath) ?? "";
  }
}
