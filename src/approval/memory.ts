import type { JsonObject } from "../protocol/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";

/** A call as memory knows it: exactly this tool, with exactly these arguments, of this worker. */
export interface RememberedCall {
  readonly worker: string;
  /** Tells workers of one name apart. */
  readonly callerId?: string | undefined;
  /** What the worker calls the toolset: another toolset's tool of the same name is another call. */
  readonly reference: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** What was decided in one run. Approvals that were given for the run are remembered; denials are only counted. */
export class ApprovalMemory {
  readonly #approved = new Map<string, RememberedCall>();
  readonly #denials = new Map<string, number>();

  remember(call: RememberedCall): void {
    this.#approved.set(keyOf(call), call);
  }

  has(call: RememberedCall): boolean {
    return this.#approved.has(keyOf(call));
  }

  list(): readonly RememberedCall[] {
    return [...this.#approved.values()];
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

function keyOf({ worker, callerId = "", reference, tool, args }: RememberedCall): string {
  return canonicalJson([worker, callerId, reference, tool, args]);
}
