import { createHash } from "node:crypto";
import type { JournalContents } from "../../journal/read-journal.ts";
import type { FactOf } from "../../protocol/fact.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted } from "../explain/phrases.ts";
import { sumLedgers } from "../records/context-ledger.ts";
import { renderUsage } from "../render-usage.ts";
import { callLabel, depthOf, lastLabel } from "../text/call-label.ts";
import { modelLabel } from "../text/model-label.ts";
import { seconds } from "../tui/draw-card.ts";
import { html, Markup, type Part } from "./html.ts";
import { foldJournal, type PageCall, type PageRun } from "./page-run.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import { describeDecision, hasSection, mark, type PageContext, renderSection, stateOf, took, wordOf } from "./render-call.ts";
import { aboutArgs, ShownTexts } from "./shown-text.ts";

/** A journal, with the texts in the places of their references. */
interface ShownJournal extends Pick<JournalContents, "entries" | "problems" | "torn"> {
  /** The record came from elsewhere. Default false. */
  readonly isForeign?: boolean;
}

/** Calls that a page shows. The others are counted. */
const mostCalls = 2000;

/**
 * Renders a run as one page that needs nothing else: no server, no network, no script but its own. Undefined if the run did not
 * begin.
 */
export function renderPage({ entries, problems, torn, isForeign = false }: ShownJournal): string | undefined {
  const run = foldJournal(entries, problems);
  if (!run) return undefined;
  const calls = run.calls.slice(0, mostCalls);
  const context: PageContext = {
    texts: new ShownTexts(),
    anchors: new Map(calls.map((call, index) => [call, `c${index}`])),
    decisions: Map.groupBy(run.decisions, ({ call }) => call),
    ledgers: sumLedgers(entries),
  };
  const ordered = inTreeOrder(calls, context);
  const title = `${run.start.program} · ${run.start.runId}`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${hashOf(pageStyle)}; script-src ${hashOf(pageScript)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>${title}</title><style>${new Markup(pageStyle)}</style></head>
<body>
${renderHeader(run, { torn, isForeign })}
<div class="columns">
<nav aria-label="Calls"><input id="filter" type="search" placeholder="Filter calls ( / )" aria-label="Filter calls">
<ol id="tree">${ordered.map((call) => renderRow(call, run, context))}</ol>${renderRest(run.calls.length - calls.length)}
<p class="keys">In the bars: <i class="model"></i> a model answers, <i class="person"></i> a person is asked, <i class="tool"></i> a tool runs.</p>
<p class="keys"><kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>a</kbd> next approval · <kbd>e</kbd> unfold or fold all · <kbd>/</kbd> filter</p></nav>
<main id="main">
${renderResult(run, context)}
${renderApprovals(run, context)}
${renderAttempts(run)}
<section id="calls"><h2>Calls</h2>${ordered.filter(hasSection).map((call) => renderSection(call, context))}</section>
</main></div>
${new Markup(`<script>${pageScript}</script>`)}</body></html>
`;
  return page.text;
}

function hashOf(text: string): Markup {
  return new Markup(`'sha256-${createHash("sha256").update(text).digest("base64")}'`);
}

/** Callers before what they call. Calls of one caller are in the order in which they began. */
function inTreeOrder(calls: readonly PageCall[], { anchors }: PageContext): readonly PageCall[] {
  const below = (call: PageCall): PageCall[] => [
    call,
    ...call.items.flatMap((item) => (item.type === "call" && anchors.has(item.call) ? below(item.call) : [])),
  ];
  const known = new Set(calls.flatMap(({ items }) => items.flatMap((item) => (item.type === "call" ? [item.call] : []))));
  return calls.filter((call) => !known.has(call)).flatMap(below);
}

function renderHeader(run: PageRun, { torn, isForeign }: Pick<ShownJournal, "torn" | "isForeign">): Markup {
  const { start, end, span, model, damaged, undo } = run;
  const state = end?.stopReason ?? "unfinished";
  const usage = end?.usage ?? run.usage;
  const rows: readonly (readonly [string, string] | undefined)[] = [
    ["Run", start.runId],
    start.forkOf === undefined ? undefined : ["Fork of", start.forkOf],
    ["Began", `${new Date(start.time).toISOString().replace("T", " ").slice(0, 16)} UTC`],
    ["Took", seconds(span)],
    model === undefined ? undefined : ["Model", modelLabel(model)],
    ["Usage", renderUsage(usage)],
    ["Calls", `${counted(run.calls.length, "call")}, ${counted(end?.denied ?? 0, "denial")}`],
    ["Approvals", start.mode],
    ["llm-do", `${start.version}, program ${start.programDigest.slice(0, 12)}`],
  ];
  const prompt = aboutArgs(start.input.input, 300);
  const notes = [
    ...(isForeign ? ["This record came from elsewhere: what it says is not vouched for."] : []),
    ...(end?.error ? [String(end.error["message"])] : []),
    ...(end?.reason === undefined ? [] : [end.reason]),
    ...(end ? [] : ["It was killed, or it is still running."]),
    ...(undo ? [describeUndo(undo)] : []),
    ...(torn ? ["The last line of its journal is cut off, as by a kill."] : []),
    ...(damaged.length > 0
      ? [`${counted(damaged.length, "entry").replace("entrys", "entries")} of its journal cannot be read.`]
      : []),
  ];
  return html`<header class="top"><h1>${start.program} <span class="badge ${state}">${state}</span></h1>
${prompt === "" ? "" : html`<p class="prompt">${prompt}</p>`}
${notes.map((note) => html`<p class="failure">${note}</p>`)}
<dl>${rows.map((row) => (row ? html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>` : ""))}</dl></header>`;
}

function describeUndo({ restored, removed, left }: FactOf<"undo">): string {
  const parts = [
    ["restored", restored],
    ["removed", removed],
    ["could not be taken back", left],
  ] as const;
  const said = parts.flatMap(([what, files]) => (files.length > 0 ? [`${files.join(", ")} ${what}`] : []));
  return `What it wrote was taken back: ${said.join("; ") || "nothing"}`;
}

function renderRow(call: PageCall, run: PageRun, { anchors }: PageContext): Markup {
  const depth = Math.min(8, depthOf(call.path));
  const about = aboutArgs(call.args, 80);
  return html`<li class="d${depth}"><a href="#${anchors.get(call) ?? ""}" title="${callLabel(call.path)}, ${took(call)}">
<span class="name">${mark(call)} ${lastLabel(call.path)} <span class="about">${about}</span></span>${renderBar(call, run)}<small>${call.to === undefined ? "" : seconds(call.to - call.from)}</small></a></li>`;
}

/** When a call ran, in the time of the run, and when it waited for a model or a person. */
function renderBar(call: PageCall, { span }: PageRun): Markup {
  const rect = (kind: string, from: number, to = span) => {
    const [x, width] = [(1000 * from) / Math.max(1, span), (1000 * (to - from)) / Math.max(1, span)];
    return html`<rect class="${kind}" x="${Math.min(x, 994).toFixed(0)}" width="${Math.max(width, 6).toFixed(0)}" height="10"/>`;
  };
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">${rect(`whole ${stateOf(call)}`, call.from, call.to)}${call.spans
    .slice(0, 200)
    .map(({ kind, from, to }) => rect(kind, from, to))}</svg>`;
}

function renderRest(calls: number): Markup | "" {
  return calls > 0 ? html`<p class="cut">${counted(calls, "more call")} are not shown; \`llm-do runs show\` lists them.</p>` : "";
}

function renderApprovals({ decisions }: PageRun, { anchors }: PageContext): Markup | "" {
  if (decisions.length === 0) return "";
  const order = { denied: 0, open: 1, approved: 2 };
  const rows = decisions
    .filter(({ call }) => anchors.has(call))
    .map((one) => {
      const about = one.request?.description ?? aboutArgs(one.call.args);
      return html`<tr class="${wordOf(one)}"><td><a href="#${anchors.get(one.call) ?? ""}">${callLabel(one.call.path)}</a></td><td>${about}</td><td>${describeDecision(one)}</td></tr>`;
    });
  const counts = [...Map.groupBy(decisions, wordOf)].sort(([a], [b]) => order[a] - order[b]);
  const words = counts.map(([word, all]) => `${formatCount(all.length)} ${word}`).join(", ");
  return html`<section id="approvals"><h2>Approvals <small>${words}</small></h2><div class="scroll"><table>
<thead><tr><th>Call</th><th>What</th><th>Answer</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

function renderAttempts({ attempts }: PageRun): Markup | "" {
  if (attempts.length === 0) return "";
  const shown = attempts.map(({ number, time, changes, voids }): Part => {
    const began = `${new Date(time).toISOString().replace("T", " ").slice(0, 19)} UTC`;
    const lines = [
      ...(changes.length > 0 ? changes : ["under the same terms"]),
      ...voids.slice(0, 50).map(({ callPath, what }) => `did not count: ${callLabel(callPath)}: ${what}`),
      ...(voids.length > 50 ? [`and ${formatCount(voids.length - 50)} more entries`] : []),
    ];
    return html`<h3>Attempt ${number} <small>went on at ${began}</small></h3><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
  });
  return html`<section id="attempts"><h2>Attempts <small>${formatCount(attempts.length + 1)}</small></h2>${shown}</section>`;
}

function renderResult({ end }: PageRun, { texts }: PageContext): Markup | "" {
  const output: JsonValue | undefined = end?.output;
  if (output === undefined || output === null) return "";
  const whole = typeof output === "string" ? texts.prose(output) : texts.text(output, "result");
  return html`<section id="result"><h2>Result</h2>${isRecord(output) ? whole : html`<div class="result">${whole}</div>`}</section>`;
}
