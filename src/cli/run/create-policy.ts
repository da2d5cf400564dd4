import type { ApprovalPolicy } from "../../approval/policy.ts";
import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";
import { rulesOf } from "../programs/open-program.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { RunFlags } from "./run-flags.ts";

/**
 * Creates the policy of approvals that flags and the terminal make. `client`: questions go to a client of a door, which adds the approver.
 * Throws a `UsageError` for flags that exclude one another.
 */
export async function createPolicy(flags: RunFlags, terminal: Terminal | "client" | undefined): Promise<ApprovalPolicy> {
  const { approveAll, rejectAll, onDenied = "return", quiet, dryRun, approvalTimeout, unisolated = false, hold } = flags;
  if (approveAll && rejectAll) throw new UsageError("--approve-all and --reject-all exclude one another");
  if (approvalTimeout !== undefined && (approveAll || rejectAll || !terminal) && !quiet) warnOfTimeout(flags);
  if (hold && (approveAll || rejectAll))
    throw new UsageError("--hold holds what --approve-all and --reject-all decide: leave one out");
  const plain = { onDenied, rules: rulesOf(flags), unisolated };
  if (rejectAll) return { mode: "reject_all", ...plain };
  if (approveAll) {
    if (!quiet && !dryRun) writeStderr("llm-do: --approve-all: everything that would ask runs without a question\n");
    return { mode: "approve_all", ...plain };
  }
  if (hold) return { mode: "prompt", onUnanswered: "hold", ...plain };
  if (!terminal) return { mode: "prompt", ...plain };
  const timeout = approvalTimeout === undefined ? {} : { timeoutSeconds: approvalTimeout };
  if (terminal === "client") return { mode: "prompt", ...timeout, ...plain };
  const { createTerminalApprover } = await import("../terminal/terminal-approver.ts");
  const approver = createTerminalApprover(terminal);
  return { mode: "prompt", approver, settle: approver, ...timeout, ...plain };
}

function warnOfTimeout({ approveAll, rejectAll }: RunFlags): void {
  const why = approveAll
    ? "with --approve-all nothing is asked"
    : rejectAll
      ? "with --reject-all nothing is asked"
      : "there is no terminal to ask at";
  writeStderr(`llm-do: warning: --approval-timeout does nothing: ${why}\n`);
}
