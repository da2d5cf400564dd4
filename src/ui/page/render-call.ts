import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { runSteps } from "../../util/in-steps.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted } from "../explain/phrases.ts";
import type { LedgerItem } from "../records/context-ledger.ts";
import { renderDecision } from "../render-decision.ts";
import { renderUsage } from "../render-usage.ts";
import { callLabel, lastLabel } from "../text/call-label.ts";
import { modelLabel } from "../text/model-label.ts";
import { changeIn, previewLines, previewOf } from "../text/preview-lines.ts";
import { seconds } from "../tui/draw-card.ts";
import { html, type Markup, type Part } from "./html.ts";
import type { PageCall, PageDecision, PageItem, PageTurn } from "./page-run.ts";
import { aboutArgs, type ShownTexts } from "./shown-text.ts";

/** The parts that all sections of a page draw from. */
export interface PageContext {
  readonly texts: ShownTexts;
  /** The anchor of each call that has one. */
  readonly anchors: ReadonlyMap<PageCall, string>;
  readonly decisions: ReadonlyMap<PageCall, readonly PageDecision[]>;
  readonly ledgers: ReadonlyMap<string, readonly LedgerItem[]>;
}

/** Returns the state of a call: a class of the style, and a word for readers who see no color. */
export function stateOf(call: PageCall): "done" | "failed" | "denied" | "open" | "void" {
  if (call.voidBy !== undefined) return "void";
  const { result } = call;
  if (result?.ok) return "done";
  // A record can hold a result of another form.
  const failure: { readonly type?: string } | undefined = result?.error;
  if (result) return failure?.type === "denied" || failure?.type === "blocked" ? "denied" : "failed";
  if (call.stopReason === undefined) return "open";
  return call.stopReason === "done" ? "done" : "failed";
}

export function mark(call: PageCall): Markup {
  const state = stateOf(call);
  const sign = { done: "✓", failed: "✗", denied: "⊘", open: "…", void: "↺" }[state];
  return html`<span class="mark ${state}" title="${state}">${sign}</span>`;
}

export function took({ from, to }: PageCall): string {
  return to === undefined ? "not ended" : seconds(to - from);
}

/** True for a call that has a section of its own: it makes requests or calls others. */
export function hasSection(call: PageCall): boolean {
  return call.kind !== "tool" || call.items.some(({ type }) => type === "call" || type === "turn");
}

/** The section of a call that has turns or calls: its conversation, with its leaf calls in their places. */
export function renderSection(call: PageCall, context: PageContext): Markup {
  const { texts, anchors, ledgers } = context;
  const usage = call.usage && call.usage.requests > 0 ? [renderUsage(call.usage)] : [];
  const facts = [...(call.model ? [modelLabel(call.model)] : []), took(call), ...usage].join(" · ");
  return html`<article class="call ${stateOf(call)}" id="${anchors.get(call) ?? ""}" tabindex="-1">
<header><h3>${mark(call)} ${lastLabel(call.path)}</h3>${call.path.includes("/") ? html`<p class="path">${callLabel(call.path)}</p>` : ""}<p class="meta">${facts}</p></header>
${renderVoid(call)}
${call.instructions === undefined ? "" : fold("Instructions", texts.text(joined(call.instructions), "instructions"))}
${call.tools && call.tools.length > 0 ? fold(counted(call.tools.length, "tool"), html`<p>${call.tools.map((tool) => html`<code>${nameOf(tool)}</code> `)}</p>`) : ""}
${renderLedger(ledgers.get(call.path))}
${renderDecisions(call, context)}
${hasContent(call.args) && !call.items.some(({ type }) => type === "message") ? html`<div class="message user"><h4>input</h4>${texts.text(call.args ?? null, "input")}</div>` : ""}
${renderItems(call, context)}
${renderOutput(call, context)}
</article>`;
}

function renderItems({ items }: PageCall, context: PageContext): readonly Markup[] {
  const shown: Markup[] = [];
  let left = 0;
  for (const item of items) {
    if (context.texts.isFull || (item.type === "call" && !context.anchors.has(item.call))) left++;
    else shown.push(renderItem(item, context));
  }
  return left === 0 ? shown : [...shown, html`<p class="cut">cut: ${counted(left, "more item")}; the run's journal has them</p>`];
}

function renderItem(item: PageItem, context: PageContext): Markup {
  switch (item.type) {
    case "message":
      return renderMessage(item.message, context);
    case "turn":
      return renderTurn(item.turn, context);
    case "note":
      return html`<p class="note">${item.text}</p>`;
    case "call":
      return hasSection(item.call) ? renderLink(item.call, context) : renderTool(item.call, context);
  }
}

function renderMessage({ role, parts }: Message, { texts }: PageContext): Markup {
  const shown = (parts as readonly Message["parts"][number][]).map((part): Part => {
    if (part.type === "text") return texts.prose(part.text);
    if (part.type === "file")
      return html`<p class="file">${part.name} <small>${part.mediaType}, ${formatCount(part.bytes)} bytes</small></p>`;
    return "";
  });
  return html`<div class="message ${role}"><h4>${role}</h4>${shown}</div>`;
}

function renderTurn(turn: PageTurn, { texts }: PageContext): Markup {
  const { number, span, answer, failure, voidBy, isShared = false } = turn;
  const [time, usage] = [span.to === undefined ? "no answer" : seconds(span.to - span.from), answer && renderUsage(answer.usage)];
  const label = `turn ${number
    .replace(/\.1\b/, "")
    .replace(/\.(\d+)/, ", attempt $1")
    .replace(" last", ", the last")}`;
  const parts = (answer?.message.parts ?? []).map((part): Part => {
    if (part.type === "text") return texts.prose(part.text);
    if (part.type === "reasoning") return part.text === "" ? "" : fold("Reasoning", texts.prose(part.text), "reasoning");
    if (part.type === "server-call")
      return html`<p class="server">executed by the provider: <code>${part.name}</code> ${aboutArgs(part.args)}</p>`;
    if (part.type === "server-result")
      return fold(`${part.name} of the provider ${part.ok ? "gave" : "failed"}`, texts.text(part.value, "result"));
    if (part.type === "source") return html`<p class="server">source: ${part.title ?? ""} ${part.url ?? ""}</p>`;
    return part.type === "file" ? html`<p class="file">${part.name}</p>` : "";
  });
  const unused = voidBy === undefined ? "" : html`<p class="note void">did not count in attempt ${voidBy}</p>`;
  const shared = isShared ? html`<p class="note">recorded in the run that this one is a fork of</p>` : "";
  const failed = failure === undefined ? "" : html`<p class="note failed">${failure}</p>`;
  return html`<div class="message assistant"><h4>${label} <small>${time}${usage ? ` · ${usage}` : ""}</small></h4>${unused}${shared}${failed}${parts}</div>`;
}

function renderTool(call: PageCall, context: PageContext): Markup {
  const { texts, anchors } = context;
  const decided = (context.decisions.get(call) ?? []).length > 0;
  const change = runSteps(previewOf(call.preview ?? changeIn(call.args)));
  const isOpen = stateOf(call) === "denied" || stateOf(call) === "failed" || (decided && change.length > 0);
  const about = aboutArgs(call.args);
  return html`<details class="tool ${stateOf(call)}" id="${anchors.get(call) ?? ""}"${isOpen ? html` open` : ""}>
<summary>${mark(call)} <b>${lastLabel(call.path)}</b> <span class="about">${about}</span> <small>${took(call)}</small></summary>
${renderVoid(call)}${renderDecisions(call, context)}
${call.verdict && !decided ? html`<p class="why">${call.verdict.type}: ${call.verdict.why}</p>` : ""}
${change.length > 0 ? texts.diff(change) : html`<h5>arguments</h5>${texts.text(call.args ?? null, "arguments")}`}
${renderItems(call, context)}
${renderOutput(call, context)}
</details>`;
}

function renderLink(call: PageCall, { anchors }: PageContext): Markup {
  const anchor = anchors.get(call);
  const name = html`${mark(call)} <b>${lastLabel(call.path)}</b> <span class="about">${aboutArgs(call.args)}</span> <small>${took(call)}</small>`;
  return anchor === undefined ? html`<p class="link">${name}</p>` : html`<p class="link"><a href="#${anchor}">${name} →</a></p>`;
}

function renderDecisions(call: PageCall, context: PageContext): readonly Markup[] {
  return (context.decisions.get(call) ?? []).map(
    (one) => html`<div class="decision ${wordOf(one)}">${describeDecision(one)}${renderEdited(one, context)}</div>`,
  );
}

/** Describes a decision, who made it and after what time, and the reason of the question. */
export function describeDecision(one: PageDecision): Markup {
  const { request, decision, source, stops, span, voidBy } = one;
  const settled = decision && source ? { decision, source, ...(stops ? { stops } : {}) } : undefined;
  const answer = settled ? renderDecision(settled).replace(" by you", " by a person") : "not answered";
  const note = decision?.note !== undefined && source !== "person" && source !== "error" ? `: ${decision.note}` : "";
  const waited = request && span.to !== undefined ? ` after ${seconds(span.to - span.from)}` : "";
  const rule = decision?.type === "approve" && decision.rule !== undefined ? ` with the rule ${decision.rule}` : "";
  const scope = decision?.type === "approve" && decision.remember === "run" ? " for this run" : "";
  const unused = voidBy === undefined ? "" : html` <small>did not count in attempt ${voidBy}</small>`;
  return html`<b class="${wordOf(one)}">${answer}</b>${note}${scope}${rule}${waited}${unused}${request ? html`<br><small>asked because ${request.why}</small>` : ""}`;
}

export function wordOf({ decision }: PageDecision): "approved" | "denied" | "open" {
  return decision === undefined ? "open" : decision.type === "approve" ? "approved" : "denied";
}

/** The question itself, where it shows what the call's own arguments do not. */
function renderEdited({ request, decision }: PageDecision, { texts }: PageContext): Markup | "" {
  if (decision?.type === "approve" && decision.args)
    return html`<h5>edited arguments</h5>${texts.text(decision.args, "arguments")}`;
  if (!request?.preview || request.preview.type === "diff" || request.preview.type === "new-file") return "";
  return fold("The question", texts.diff(runSteps(previewLines(request))));
}

function renderOutput(call: PageCall, { texts, decisions }: PageContext): Markup | "" {
  const { result, output } = call;
  if (stateOf(call) === "denied" && decisions.has(call)) return "";
  const last = call.items.findLast(({ type }) => type === "turn");
  if (last?.type === "turn" && typeof output === "string" && textOf(last.turn) === output) return "";
  if (result && !result.ok) {
    const { type, error, hint } = result.error;
    return html`<p class="failure"><b>${type}</b>: ${error}${hint === undefined ? "" : html`<br><small>${hint}</small>`}</p>`;
  }
  const value: JsonValue | undefined = output ?? (result?.ok ? result.value : undefined);
  const end = call.stopReason === undefined || call.stopReason === "done" ? "" : html`<p class="failure">${call.stopReason}</p>`;
  return value === undefined || value === null ? end : html`${end}<h5>result</h5>${texts.text(value, "result")}`;
}

function textOf({ answer }: PageTurn): string {
  return (answer?.message.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

function renderVoid({ voidBy }: PageCall): Markup | "" {
  return voidBy === undefined ? "" : html`<p class="note void">did not count any more in attempt ${voidBy}</p>`;
}

function renderLedger(rows: readonly LedgerItem[] | undefined): Markup | "" {
  if (!rows) return "";
  const total = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  const lines = rows.map(
    ({ part, tokens }) =>
      html`<tr><td>${part}</td><td class="number">${formatCount(tokens)}</td><td><svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="model" width="${((100 * tokens) / Math.max(1, total)).toFixed(1)}" height="8"/></svg></td></tr>`,
  );
  return fold(
    `Context: ${formatCount(total)} tokens, at four characters each`,
    html`<div class="scroll"><table class="ledger">${lines}</table></div>`,
  );
}

export function fold(label: string, content: Part, kind = "part"): Markup {
  return html`<details class="${kind}"><summary>${label}</summary>${content}</details>`;
}

function joined(instructions: JsonValue): JsonValue {
  return Array.isArray(instructions) && instructions.every((one) => typeof one === "string")
    ? instructions.join("\n\n")
    : instructions;
}

function nameOf(tool: JsonValue): string {
  return isRecord(tool) ? String(tool["name"]) : String(tool);
}

function hasContent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && !(isRecord(value) && Object.keys(value).length === 0);
}
