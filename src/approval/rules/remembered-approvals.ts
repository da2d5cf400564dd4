import type { RunState } from "../../effects/run-state.ts";
import type { RememberedCall, RuleForRun } from "../../protocol/fact.ts";

/** Approvals of the whole run so far, for the approver. */
export interface RememberedApprovals {
  /** Oldest first; without the known values of secrets. */
  list(): readonly RememberedCall[];
  /** Rules that were allowed for the run, oldest first; without the known values of secrets. */
  rules(): readonly RuleForRun[];
  /** From now on the call, or what the rule covers, asks again. Takes one of those that `list` or `rules` gave. False if it was not remembered any more. */
  revoke(approval: RememberedCall | RuleForRun): boolean;
}

export interface RememberedOptions {
  /** Takes secrets out of what is listed. */
  readonly hide: <T>(value: T) => T;
  /** Records the revocation, which makes it part of the state. */
  readonly onRevoke: (approval: Pick<RuleForRun, "memory" | "worker" | "tool">) => void;
}

export function createRememberedApprovals(state: RunState, { hide, onRevoke }: RememberedOptions): RememberedApprovals {
  const ids = new WeakMap<RememberedCall | RuleForRun, string>();
  return {
    list: () =>
      state.remembered().map(({ memory, worker, reference, tool, args }) => {
        const shown = { ...hide({ worker, reference, tool, args }) };
        ids.set(shown, memory);
        return shown;
      }),
    rules: () =>
      state.rules().map((rule) => {
        const shown = { ...hide(rule) };
        ids.set(shown, rule.memory);
        return shown;
      }),
    revoke: (shown) => {
      const memory = ids.get(shown);
      const known = [...state.remembered(), ...state.rules()].find((one) => one.memory === memory);
      if (known) onRevoke(known);
      return known !== undefined;
    },
  };
}
