import { styleText } from "node:util";
import type { Approver } from "../approval/policy.ts";
import type { ApprovalDecision } from "../protocol/approval.ts";
import { renderRequest } from "../ui/render-request.ts";
import { escapeText } from "../util/escape-text.ts";
import type { Terminal } from "./terminal.ts";

/** Asks on the terminal until the answer is one of those offered. An empty line is none: nothing is approved by accident. */
export function createTerminalApprover(terminal: Terminal): Approver {
  return async (request, { signal }) => {
    const shown = renderRequest(request, { columns: terminal.columns, style });
    const text = `\n${shown}\n${answers(request.canRemember)}`;
    return terminal.ask({ text, read: (line) => readAnswer(line, request.canRemember) }, signal);
  };
}

/** Plain text where stderr is no terminal, or `NO_COLOR` is set. */
function style(format: "bold" | "dim" | "green" | "red", text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

function answers(canRemember: boolean): string {
  return [
    "  a  approve once\n",
    canRemember ? "  r  approve, and the same call again in this run\n" : "",
    "  d  deny; a note to the model may follow: d wrong folder\n",
    "  s  stop the run\n",
  ].join("");
}

/** The answer of a line, or what to say where it is none. */
export function readAnswer(line: string | undefined, canRemember: boolean): { readonly answer: ApprovalDecision } | string {
  if (line === undefined) return { answer: { type: "deny", note: "the question was closed without an answer" } };
  const offered = canRemember ? "a, r, d or s" : "a, d or s";
  if (line.trim() === "") return `Nothing was chosen. Answer with ${offered}.`;
  const answer = parseAnswer(line);
  if (answer?.type === "approve" && answer.remember && !canRemember) return `This cannot be remembered. Answer with ${offered}.`;
  return answer ? { answer } : `"${escapeText(line.trim(), { keepBackslashes: true })}" is no answer. Answer with ${offered}.`;
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
