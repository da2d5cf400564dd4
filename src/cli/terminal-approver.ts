import { styleText } from "node:util";
import type { Approver } from "../approval/policy.ts";
import type { ApprovalDecision } from "../protocol/approval.ts";
import { renderRequest } from "../ui/render-request.ts";
import { escapeText } from "../util/escape-text.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Asks on the terminal until the answer is one of those offered. An empty line is none: nothing is approved by accident. What
 * was not shown whole can be looked at, and is remembered only after that.
 */
export function createTerminalApprover(terminal: Terminal): Approver {
  return async (request, { signal }) => {
    const render = (whole: boolean) => renderRequest(request, { columns: terminal.columns, style, whole });
    const first = render(false);
    let offer: Offer = { canRemember: request.canRemember && first.isWhole, canShowMore: !first.isWhole };
    const read = (line: string | undefined) => {
      if (!offer.canShowMore || !isMore(line)) return readAnswer(line, offer);
      offer = { canRemember: request.canRemember, canShowMore: false };
      return `\n${render(true).text}\n${answers(offer).trimEnd()}`;
    };
    return terminal.ask({ text: `\n${first.text}\n${answers(offer)}`, read }, signal);
  };
}

/** What can be answered beside `a`, `d` and `s`. */
interface Offer {
  readonly canRemember: boolean;
  readonly canShowMore: boolean;
}

function isMore(line: string | undefined): boolean {
  return /^\s*m(ore)?\s*$/i.test(line ?? "");
}

/** Plain text where stderr is no terminal, or `NO_COLOR` is set. */
function style(format: "bold" | "dim" | "green" | "red", text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

function answers({ canRemember, canShowMore }: Offer): string {
  return [
    canShowMore ? "  m  show more: all of it\n" : "",
    "  a  approve once\n",
    canRemember ? "  r  approve, and the same call again in this run\n" : "",
    "  d  deny; a note to the model may follow: d wrong folder\n",
    "  s  stop the run\n",
  ].join("");
}

/** The answer of a line, or what to say where it is none. */
function readAnswer(line: string | undefined, offer: Offer): { readonly answer: ApprovalDecision } | string {
  if (line === undefined) return { answer: { type: "deny", note: "the question was closed without an answer" } };
  const letters = [...(offer.canShowMore ? ["m"] : []), "a", ...(offer.canRemember ? ["r"] : []), "d"].join(", ");
  const offered = `${letters} or s`;
  if (line.trim() === "") return `Nothing was chosen. Answer with ${offered}.`;
  const answer = parseAnswer(line);
  if (answer?.type === "approve" && answer.remember && !offer.canRemember) {
    return `This cannot be remembered${offer.canShowMore ? " before all of it was shown" : ""}. Answer with ${offered}.`;
  }
  return answer ? { answer } : `"${escapeText(line.trim(), { keepBackslashes: true })}" is no answer. Answer with ${offered}.`;
}

/** `a`, `r`, `s` or their words; `d` or `deny`, with what follows as the note that the model sees. */
function parseAnswer(answer: string): ApprovalDecision | undefined {
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
