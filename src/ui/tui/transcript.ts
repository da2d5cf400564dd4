import type { RunEvent } from "../../protocol/event.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { show } from "../explain/phrases.ts";
import { foldEvent, type RunView, type Settled, type ToolCard } from "../run-view.ts";
import { callLabel } from "../text/call-label.ts";
import { drawCard } from "./draw-card.ts";
import { renderMarkdown } from "./markdown.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import { type Layout, span, wrapSpans } from "./spans.ts";

type Pending = Settled | { readonly type: "delta"; text: string } | { readonly type: "rows"; readonly rows: readonly string[] };

/** Cards and notes that wait for the next frame; of more, the last ones are drawn. */
const mostPending = 100;
/** Cards that can be opened later. */
const mostKept = 20;

/** Turns events into the rows that are printed for good, frame by frame: however many events there are, a frame is bounded. */
export class Transcript {
  readonly view: RunView;
  /** Cards are drawn with their arguments, diffs and results. */
  isOpen = false;
  /** The text of the entry's last turn. */
  lastText = "";
  readonly #showsText: boolean;
  readonly #stream = new MarkdownStream();
  #pending: Pending[] = [];
  #dropped = 0;
  #hasStreamed = false;
  readonly #kept: ToolCard[] = [];

  /** `showsText`: the entry's texts are shown; false if its output is data. */
  constructor(view: RunView, { showsText }: { readonly showsText: boolean }) {
    this.view = view;
    this.#showsText = showsText;
  }

  add(event: RunEvent): void {
    if (event.type === "text-delta" && event.callPath === this.view.entry && this.#showsText) this.#addText(event.text);
    for (const settled of foldEvent(this.view, event)) {
      if (settled.type === "card") this.#keep(settled.card);
      if (settled.type === "text") this.lastText = settled.text;
      if (settled.type !== "text" || this.#showsText) this.#push(settled);
    }
  }

  /** Prints rows after everything that came before. */
  print(rows: readonly string[]): void {
    this.#pending.push({ type: "rows", rows });
  }

  /** Returns the rows of everything that has settled since the last frame. */
  settle(layout: Layout): string[] {
    const pending = this.#pending;
    this.#pending = [];
    const rows = pending.flatMap((one) => this.#draw(one, layout));
    if (this.#dropped > 0) rows.push(layout.style(["dim"], `  … and ${formatCount(this.#dropped)} calls and notes before these`));
    this.#dropped = 0;
    return [...rows, ...this.#stream.settle(layout)];
  }

  /** Returns the rows of everything that is left, with the text that a stop has broken off. */
  finish(layout: Layout): string[] {
    return [...this.settle(layout), ...this.#stream.end(layout)];
  }

  /** Returns the rows of the text that is still open. */
  open(layout: Layout): string[] {
    return this.#stream.isEmpty ? [] : this.#stream.rest(layout);
  }

  /** Returns the rows of the last card, opened. */
  lastCard(layout: Layout): string[] {
    const card = this.#kept.at(-1);
    return card ? drawCard(card, layout, true) : ["No call has ended yet."];
  }

  #addText(text: string): void {
    const last = this.#pending.at(-1);
    if (last?.type === "delta") last.text += text;
    else this.#pending.push({ type: "delta", text });
  }

  #push(settled: Settled): void {
    this.#pending.push(settled);
    if (this.#pending.length <= mostPending) return;
    const at = this.#pending.findIndex(({ type }) => type === "card" || type === "note");
    if (at < 0) return;
    this.#pending.splice(at, 1);
    this.#dropped++;
  }

  #keep(card: ToolCard): void {
    this.#kept.push(card);
    if (this.#kept.length > mostKept) this.#kept.shift();
  }

  #draw(pending: Pending, layout: Layout): readonly string[] {
    switch (pending.type) {
      case "delta":
        this.#hasStreamed = true;
        this.#stream.push(pending.text);
        return [];
      case "rows":
        return pending.rows;
      case "text": {
        const rows = this.#hasStreamed ? this.#stream.end(layout) : renderMarkdown(pending.text, layout);
        this.#hasStreamed = false;
        return [...rows, ""];
      }
      case "card":
        return drawCard(pending.card, layout, this.isOpen);
      case "note": {
        if (pending.kind === "retry" && pending.path === this.view.entry) this.#stream.drop();
        const text = `${callLabel(pending.path)}: ${show(pending.text)}`;
        return wrapSpans([span(text, "yellow")], layout, { first: "! ", indent: "  " });
      }
    }
  }
}
