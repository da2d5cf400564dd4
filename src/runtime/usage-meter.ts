import type { CallPath } from "../protocol/call.ts";
import { addUsage, noUsage, type Usage } from "../protocol/usage.ts";

/** Counts what a run spends, for each call with everything below it. */
export class UsageMeter {
  readonly #spent = new Map<CallPath, Usage>();

  add(callPath: CallPath, usage: Usage): void {
    for (let path: CallPath = callPath; ; path = path.slice(0, path.lastIndexOf("/"))) {
      this.#spent.set(path, addUsage(this.of(path), usage));
      if (!path.includes("/")) return;
    }
  }

  /** Of the call and all its descendants. */
  of(callPath: CallPath): Usage {
    return this.#spent.get(callPath) ?? noUsage;
  }
}
