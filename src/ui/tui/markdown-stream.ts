import { lexer } from "marked";
import { renderBlocks, renderCode, renderMarkdown } from "./markdown.ts";
import type { Layout } from "./spans.ts";

/** An open block that grows longer than this is settled line by line, so that the open part stays short. */
const longestOpen = 4000;

/** Markdown that comes in pieces: blocks that are complete settle, in order, and the last one stays open. */
export class MarkdownStream {
  #open = "";

  get isEmpty(): boolean {
    return this.#open === "";
  }

  push(piece: string): void {
    this.#open = `${this.#open}${piece}`.replaceAll("\r\n", "\n");
  }

  /** Returns the rows that can no longer change, and forgets them. */
  settle(layout: Layout): string[] {
    const tokens = lexer(this.#open);
    const last = tokens.at(-1);
    if (!last) return [];
    // A single line break may still go on with the same block.
    const isClosed = last.type === "space" && tokens.length > 1;
    const settled = isClosed && tokens.at(-2)?.type !== "list" ? tokens : tokens.slice(0, isClosed ? -2 : -1);
    const rows = renderBlocks(settled, layout);
    this.#open = this.#open.slice(settled.reduce((sum, { raw }) => sum + raw.length, 0));
    return this.#open.length > longestOpen ? [...rows, ...this.#settleLong(layout)] : rows;
  }

  /** Returns the rows of what is still open. */
  rest(layout: Layout): string[] {
    return renderMarkdown(this.#open, layout);
  }

  /** Returns the rows of the rest, and begins anew. */
  end(layout: Layout): string[] {
    const rows = renderMarkdown(this.#open, layout);
    this.#open = "";
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** Drops the open rows: the answer begins anew. */
  drop(): void {
    this.#open = "";
  }

  #settleLong(layout: Layout): string[] {
    const end = this.#open.lastIndexOf("\n") + 1 || this.#open.length;
    const text = this.#open.slice(0, end);
    const [fence] = /^ {0,3}(`{3,}|~{3,})[^\n]*\n/.exec(text) ?? [];
    this.#open = (fence ?? "") + this.#open.slice(end);
    return fence === undefined ? renderMarkdown(text, layout) : renderCode(text.slice(fence.length, -1), layout);
  }
}
