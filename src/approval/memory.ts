import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";

/** A call that was approved for the run, as an approver sees it: this tool, with these arguments, of this worker. */
export interface RememberedCall {
  readonly worker: string;
  /** Tells workers of one name apart. */
  readonly callerId?: string | undefined;
  /** What the worker calls the toolset: another toolset's tool of the same name is another call. */
  readonly reference: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** A call with what its question shows beside the arguments. */
export interface AskedCall extends RememberedCall {
  /** An approval that was asked for one reason does not hold for another. */
  readonly why: string;
  readonly content: ShownContent;
}

/** The content that a question shows: the text that a write replaces, the bytes of an attachment. */
export interface ShownContent {
  readonly now: JsonValue;
  /** The same once the call has run. An approval for the run holds for it too. */
  readonly after?: JsonValue;
}

interface Approval {
  readonly call: RememberedCall;
  /** Digests of the reasons and contents that it was given for. */
  readonly shown: Set<string>;
}

/**
 * What was decided in one run. Approvals for the run are remembered, each for the content that was shown with it; denials are
 * only counted.
 */
export class ApprovalMemory {
  readonly #approved = new Map<string, Approval>();
  readonly #denials = new Map<string, number>();

  remember(call: AskedCall): void {
    const { worker, callerId, reference, tool, args, why, content } = call;
    const approval = this.#approved.get(keyOf(call)) ?? { call: { worker, callerId, reference, tool, args }, shown: new Set() };
    for (const state of [content.now, content.after]) {
      if (state !== undefined) approval.shown.add(digestOf(why, state));
    }
    this.#approved.set(keyOf(call), approval);
  }

  has(call: AskedCall): boolean {
    return this.#approved.get(keyOf(call))?.shown.has(digestOf(call.why, call.content.now)) ?? false;
  }

  list(): readonly RememberedCall[] {
    return [...this.#approved.values()].map(({ call }) => call);
  }

  revoke(call: RememberedCall): boolean {
    return this.#approved.delete(keyOf(call));
  }

  countDenial(call: RememberedCall): void {
    this.#denials.set(keyOf(call), this.denials(call) + 1);
  }

  denials(call: RememberedCall): number {
    return this.#denials.get(keyOf(call)) ?? 0;
  }
}

function digestOf(why: string, state: JsonValue): string {
  return sha256(canonicalJson([why, state]));
}

function keyOf({ worker, callerId = "", reference, tool, args }: RememberedCall): string {
  return canonicalJson([worker, callerId, reference, tool, args]);
}
