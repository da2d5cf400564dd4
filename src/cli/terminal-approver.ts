import type { Approver } from "../approval/policy.ts";
import type { ApprovalDecision } from "../protocol/approval.ts";
import { renderRequest } from "../ui/render-request.ts";
import type { Terminal } from "./terminal.ts";

const help = "[a]pprove once, approve for this [r]un, [d]eny (a note may follow), [s]top the run";

/** Asks on the terminal until the answer is one of those offered. An empty line is none: nothing is approved by accident. */
export function createTerminalApprover(terminal: Terminal): Approver {
  return async (request, { signal }) => {
    terminal.write(`\n${renderRequest(request)}\n`);
    for (;;) {
      const answer = await terminal.ask(`${help}\n> `, signal);
      const decision = parseAnswer(answer);
      if (decision) return decision;
      terminal.write(answer.trim() === "" ? "Nothing was chosen.\n" : "That is none of the answers.\n");
    }
  };
}

/** `a`, `r`, `s` or their words; `d` or `deny`, with what follows as the note that the model sees. */
export function parseAnswer(answer: string): ApprovalDecision | undefined {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(answer) ?? [];
  const note = rest === "" ? {} : { note: rest };
  switch (word.toLowerCase()) {
    case "a":
    case "approve":
      return rest === "" ? { type: "approve" } : undefined;
    case "r":
    case "run":
      return rest === "" ? { type: "approve", remember: "run" } : undefined;
    case "d":
    case "deny":
      return { type: "deny", ...note };
    case "s":
    case "stop":
      return { type: "stop", ...note };
    default:
      return undefined;
  }
}
