import type { ApprovalMemory, RememberedCall } from "./memory.ts";

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
  readonly onRevoke: (call: RememberedCall) => void;
}

export function createRememberedApprovals(memory: ApprovalMemory, { hide, onRevoke }: RememberedOptions): RememberedApprovals {
  const originals = new WeakMap<RememberedCall, RememberedCall>();
  return {
    list: () =>
      memory.list().map((call) => {
        const { worker, reference, tool, args } = call;
        const shown = { ...hide({ worker, reference, tool, args }) };
        originals.set(shown, call);
        return shown;
      }),
    revoke: (shown) => {
      const call = originals.get(shown);
      const isRevoked = call !== undefined && memory.revoke(call);
      if (isRevoked) onRevoke(call);
      return isRevoked;
    },
  };
}
