import type { RunState } from "../effects/run-state.ts";
import type { RememberedCall } from "../protocol/fact.ts";

/** What was approved for the whole run so far, for whoever answers its questions. */
export interface RememberedApprovals {
  /** Oldest first; without the known values of secrets. */
  list(): readonly RememberedCall[];
  /** From now on the call asks again. Takes one of those that `list` gave. False where it was not remembered any more. */
  revoke(call: RememberedCall): boolean;
}

export interface RememberedOptions {
  /** Takes secrets out of what is listed. */
  readonly hide: <T>(value: T) => T;
  /** Records the revocation, which makes it part of the state. */
  readonly onRevoke: (call: RememberedCall & { readonly memory: string }) => void;
}

export function createRememberedApprovals(state: RunState, { hide, onRevoke }: RememberedOptions): RememberedApprovals {
  const ids = new WeakMap<RememberedCall, string>();
  return {
    list: () =>
      state.remembered().map(({ memory, worker, reference, tool, args }) => {
        const shown = { ...hide({ worker, reference, tool, args }) };
        ids.set(shown, memory);
        return shown;
      }),
    revoke: (shown) => {
      const memory = ids.get(shown);
      const known = state.remembered().find((one) => one.memory === memory);
      if (known) onRevoke(known);
      return known !== undefined;
    },
  };
}
