import { setImmediate } from "node:timers/promises";
import { styleText } from "node:util";
import { UnansweredQuestion } from "../../approval/asking/put-question.ts";
import type { Approver, ApproverOptions } from "../../approval/policy.ts";
import type { ApprovalDecision, ApprovalRequest, ProposedRule } from "../../protocol/approval.ts";
import { renderRemembered } from "../../ui/render-remembered.ts";
import { openRequest } from "../../ui/render-request.ts";
import type { RowStyle } from "../../ui/text/preview-rows.ts";
import { showText } from "../../ui/text/show-text.ts";
import { keySeparator, wrapKeys } from "../../ui/text/wrap-text.ts";
import type { Steps } from "../../util/in-steps.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { editArguments } from "./edit-arguments.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Asks on the terminal until the answer is one of those offered. An empty line is none: nothing is approved by accident. What
 * was not shown whole can be looked at, and is remembered only after that.
 */
export function createTerminalApprover(terminal: Terminal): Approver {
  return (request, options) =>
    terminal.hold(async () => {
      try {
        return await ask(terminal, request, options);
      } catch (thrown) {
        if (options.signal.reason instanceof UnansweredQuestion) terminal.say(`\n${options.signal.reason.message}: denied\n`);
        throw thrown;
      }
    });
}

async function ask(terminal: Terminal, request: ApprovalRequest, options: ApproverOptions): Promise<ApprovalDecision> {
  const { signal, memory, checkArgs } = options;
  const style: RowStyle["style"] = (format, text) => styleText(format, text, { stream: terminal.output });
  let question = await inTurns(openRequest(request, { columns: terminal.columns, style }), signal);
  const canList = memory.list().length + memory.rules().length > 0;
  const { rules = [] } = request;
  let wasWhole = false;
  const offerAt = (isWhole: boolean): Offer => {
    wasWhole ||= isWhole;
    return { rules, canRemember: request.canRemember && wasWhole, canShowMore: !isWhole, canList };
  };
  let offer = offerAt(question.isWhole);
  const whole = () => `\n${question.text}\n${listRules(rules, terminal.columns)}`;
  const again = () => {
    question = question.again(terminal.columns);
    offer = offerAt(question.isWhole);
    return { text: whole(), keys: keysOf(offer) };
  };
  const read = (line: string | undefined) => {
    const number = readList(line);
    if (number !== undefined) return showMemory(number, memory, terminal.columns);
    if (/^\s*(\?|\/?help)\s*$/i.test(line ?? ""))
      return { text: `${explainAnswers(offer)}${listRules(rules, terminal.columns)}`, keys: keysOf(offer) };
    if (!isMore(line)) return readAnswer(line, offer);
    if (!offer.canShowMore) return again();
    const page = question.more();
    offer = offerAt(page.isWhole);
    return { text: page.text, keys: keysOf(offer) };
  };
  let text = whole();
  let draft: string | undefined;
  for (;;) {
    const answer = await terminal.ask({ text, subject: question.line, keys: keysOf(offer), again, read }, signal);
    if (answer.type !== "edit") return answer;
    const edited = await editArguments(terminal, { args: request.args, draft, checkArgs, signal });
    if ("args" in edited) return { type: "approve", args: edited.args };
    draft = edited.draft;
    text = `${edited.problem}\n`;
  }
}

/** Lets timers and signals have their turn after each step. */
async function inTurns<T>(steps: Steps<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await setImmediate();
    signal.throwIfAborted();
  }
}

/** Answers beside `a`, `e`, `d` and `s`. */
interface Offer {
  readonly rules: readonly ProposedRule[];
  readonly canRemember: boolean;
  readonly canShowMore: boolean;
  readonly canList: boolean;
}

function isMore(line: string | undefined): boolean {
  return /^\s*m(ore)?\s*$/i.test(line ?? "");
}

/** `l`, `list` or `l 2`: the number, or an empty text if there is none. */
function readList(line: string | undefined): string | undefined {
  const found = /^\s*l(?:ist)?(?:\s+(\d+))?\s*$/i.exec(line ?? "");
  return found ? (found[1] ?? "") : undefined;
}

/** The keys, on as few rows as they fill: what is asked about needs the others. */
function keysOf({ rules, canRemember, canShowMore, canList }: Offer): string {
  const keys = [
    "[a]pprove",
    ...(canRemember ? ["[r]epeats too"] : []),
    "[d]eny",
    "[e]dit",
    "[s]top",
    canShowMore ? "[m]ore" : "[m] again",
    ...(canList ? ["[l]ist"] : []),
    ...(rules.length > 0 ? [`[${rules.length === 1 ? "1" : `1-${rules.length}`}] a rule`] : []),
    "[?]",
  ];
  return `${keys.join(keySeparator)}\n`;
}

function explainAnswers({ canRemember, canShowMore, canList }: Offer): string {
  return [
    "  a  approve once\n",
    canRemember ? "  r  approve, and the same call again in this run\n" : "",
    "  d  deny; a note to the model may follow: d wrong folder\n",
    "  e  edit the arguments; you are asked for the new call\n",
    "  s  stop the run\n",
    canShowMore ? "  m  show more\n" : "  m  show the question again\n",
    canList ? "  l  list approvals for this run; l 2 revokes the second\n" : "",
    "  ?  this list\n",
  ].join("");
}

/** `  1  allow main/write_file(reports/*) in this run: 3 of the 12 calls that asked so far`. */
function listRules(rules: readonly ProposedRule[], columns: number): string {
  const lines = rules.map(({ rule, covers, of }, index) => {
    const far = covers > 1 ? `: ${covers} of the ${of} calls that asked so far` : "";
    return `  ${index + 1}  approve, and allow ${showText(rule)} in this run${far}`;
  });
  return lines.length === 0 ? "" : `${lines.flatMap((line) => wrapKeys(line, columns - 1)).join("\n")}\n`;
}

type Answer = ApprovalDecision | { readonly type: "edit" };

/** The answer of a line, or what to say where it is none. */
function readAnswer(line: string | undefined, offer: Offer): { readonly answer: Answer } | string {
  if (line === undefined) return { answer: { type: "deny", note: "the question was closed without an answer" } };
  const { rules, canShowMore, canRemember, canList } = offer;
  const letters = [
    "a",
    ...(canRemember ? ["r"] : []),
    ...rules.map((_, index) => String(index + 1)),
    "e",
    "d",
    "d WHY",
    "m",
    ...(canList ? ["l"] : []),
    "s",
  ];
  const offered = `${letters.join(", ")} or ?`;
  if (line.trim() === "") return `Nothing was chosen. Answer with ${offered}.`;
  const rule = rules[Number(/^\s*([1-9])\s*$/.exec(line)?.[1]) - 1]?.rule;
  if (rule !== undefined) return { answer: { type: "approve", rule } };
  const answer = parseAnswer(line);
  if (answer?.type === "approve" && answer.remember && !canRemember) {
    return `This cannot be remembered${canShowMore ? " before all of it was shown" : ""}. Answer with ${offered}.`;
  }
  return answer ? { answer } : `"${escapeText(line.trim(), { keepBackslashes: true })}" is no answer. Answer with ${offered}.`;
}

/** Lists the approvals of the run by number, after one of them was revoked. */
export function showMemory(number: string, memory: ApproverOptions["memory"], columns: number): string {
  const list = () => [...memory.list(), ...memory.rules()];
  const approvals = list();
  const approval = approvals[Number(number) - 1];
  if (number === "") return renderRemembered(approvals, columns);
  if (!approval || !memory.revoke(approval)) return `There is no number ${number}.\n${renderRemembered(approvals, columns)}`;
  return `Number ${number} asks again from now on.\n${renderRemembered(list(), columns)}`;
}

/** `a`, `r`, `e`, `s` or their words; `d` or `deny`, with what follows as the note that the model sees. */
function parseAnswer(line: string): Answer | undefined {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
  const note = rest === "" ? {} : { note: rest };
  switch (word.toLowerCase()) {
    case "a":
    case "approve":
      return rest === "" ? { type: "approve" } : undefined;
    case "r":
    case "run":
      return rest === "" ? { type: "approve", remember: "run" } : undefined;
    case "e":
    case "edit":
      return rest === "" ? { type: "edit" } : undefined;
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
