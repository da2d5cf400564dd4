import { setImmediate } from "node:timers/promises";
import { styleText } from "node:util";
import type { Approver, ApproverOptions } from "../approval/policy.ts";
import { UnansweredQuestion } from "../approval/put-question.ts";
import type { ApprovalDecision, ApprovalRequest, ProposedRule } from "../protocol/approval.ts";
import type { RowStyle } from "../ui/preview-rows.ts";
import { renderRemembered } from "../ui/render-remembered.ts";
import { openRequest } from "../ui/render-request.ts";
import { showText } from "../ui/show-text.ts";
import { escapeText } from "../util/escape-text.ts";
import type { Steps } from "../util/in-steps.ts";
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
  const { columns } = terminal;
  const style: RowStyle["style"] = (format, text) => styleText(format, text, { stream: terminal.output });
  const question = await inTurns(openRequest(request, { columns, style }), signal);
  const canList = memory.list().length + memory.rules().length > 0;
  const { rules = [] } = request;
  const offerAt = (isWhole: boolean) => ({
    rules,
    canRemember: request.canRemember && isWhole,
    canShowMore: !isWhole,
    canList,
  });
  let offer: Offer = offerAt(question.isWhole);
  const read = (line: string | undefined) => {
    const number = readList(line);
    if (number !== undefined) return showMemory(number, memory, columns);
    if (!offer.canShowMore || !isMore(line)) return readAnswer(line, offer);
    const page = question.more();
    offer = offerAt(page.isWhole);
    return { text: page.text, keys: answers(offer) };
  };
  let text = `\n${question.text}\n`;
  let draft: string | undefined;
  for (;;) {
    const answer = await terminal.ask({ text, subject: question.line, keys: answers(offer), read }, signal);
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

/** `l`, `list` or `l 2`: the number, or an empty text where there is none. */
function readList(line: string | undefined): string | undefined {
  const found = /^\s*l(?:ist)?(?:\s+(\d+))?\s*$/i.exec(line ?? "");
  return found ? (found[1] ?? "") : undefined;
}

function answers({ rules, canRemember, canShowMore, canList }: Offer): string {
  return [
    canShowMore ? "  m  show more\n" : "",
    "  a  approve once\n",
    canRemember ? "  r  approve, and the same call again in this run\n" : "",
    ...rules.map((rule, index) => `  ${index + 1}  ${describeRule(rule)}\n`),
    "  e  edit the arguments; you are asked for the new call\n",
    "  d  deny; a note to the model may follow: d wrong folder\n",
    canList ? "  l  list approvals for this run; l 2 revokes the second\n" : "",
    "  s  stop the run\n",
  ].join("");
}

/** `approve, and allow main/write_file(reports/*) in this run: 3 of the 12 calls that asked so far`. */
function describeRule({ rule, covers, of }: ProposedRule): string {
  const far = of === 1 ? "this call alone so far" : `${covers} of the ${of} calls that asked so far`;
  return `approve, and allow ${showText(rule)} in this run: ${far}`;
}

type Answer = ApprovalDecision | { readonly type: "edit" };

/** The answer of a line, or what to say where it is none. */
function readAnswer(line: string | undefined, offer: Offer): { readonly answer: Answer } | string {
  if (line === undefined) return { answer: { type: "deny", note: "the question was closed without an answer" } };
  const { rules, canShowMore, canRemember, canList } = offer;
  const letters = [
    ...(canShowMore ? ["m"] : []),
    "a",
    ...(canRemember ? ["r"] : []),
    ...rules.map((_, index) => String(index + 1)),
    "e",
    "d",
    ...(canList ? ["l"] : []),
  ];
  const offered = `${letters.join(", ")} or s`;
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
