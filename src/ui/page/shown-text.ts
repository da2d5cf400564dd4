import { lexer, type Tokens } from "marked";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { textOrJson } from "../explain/phrases.ts";
import type { PreviewLine } from "../text/preview-rows.ts";
import { html, type Markup, toText } from "./html.ts";

/** In UTF-16 units. */
const longestText = 20_000;
/** Longer texts are folded. */
const longestOpen = 1500;
/** Characters of texts of a whole page. What comes after them is counted. */
const longestPage = 4_000_000;
const mostLines = 600;
/** Characters of markup around a text, about. */
const markup = 200;

/** Shows texts of a run on a page, and keeps account of how long the page becomes. */
export class ShownTexts {
  #left = longestPage;

  /** True if a page shows nothing more. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Long ones are folded, and cut where they are too long for a page. */
  text(value: JsonValue, label = "text"): Markup {
    const whole = textOrJson(value);
    const block = this.#block(whole);
    if (whole.length <= longestOpen) return block;
    return html`<details class="long"><summary>${label}, ${formatCount(whole.length)} characters: <q>${clipText(whole.trim(), 160)}</q></summary>${block}</details>`;
  }

  /** Texts of models and people, always open. Tables of Markdown are shown as tables, all else as it is written. */
  prose(whole: string): Markup {
    const shown = this.#take(whole);
    return html`<div class="prose">${renderTables(shown)}${cutNote(whole, shown)}</div>`;
  }

  diff(lines: readonly PreviewLine[]): Markup {
    const rows = lines.flatMap((line) => {
      if (typeof line === "string") return [html`<span class="about">${line}\n</span>`];
      const text = "block" in line ? line.block : line.text;
      const shown = this.#take(text);
      const kind = line.sign === "+" ? "add" : line.sign === "-" ? "del" : "same";
      return [html`<span class="${kind}">${line.sign ?? ""}${toText(shown)}${cutNote(text, shown)}\n</span>`];
    });
    const rest = rows.length - mostLines;
    return html`<pre class="diff">${rows.slice(0, mostLines)}${rest > 0 ? html`<span class="cut">cut: ${formatCount(rest)} more lines</span>` : ""}</pre>`;
  }

  #block(whole: string): Markup {
    const shown = this.#take(whole);
    return html`<pre>${toText(shown)}${cutNote(whole, shown)}</pre>`;
  }

  #take(whole: string): string {
    const shown = clipText(whole, Math.max(0, Math.min(longestText, this.#left)), "");
    this.#left -= shown.length + markup;
    return shown;
  }
}

function renderTables(text: string): readonly Markup[] {
  if (!/^ *\|?[ :]*-+[ :|-]*$/m.test(text)) return [toText(text)];
  return lexer(text).map((token) => (token.type === "table" ? renderTable(token as Tokens.Table) : toText(token.raw)));
}

function renderTable({ header, rows }: Tokens.Table): Markup {
  const cells = (row: readonly Tokens.TableCell[]) => row.map(({ text }) => html`<td>${text}</td>`);
  const names = header.map(({ text }) => html`<th>${text}</th>`);
  return html`<table><thead><tr>${names}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table>`;
}

function cutNote(whole: string, shown: string): Markup | "" {
  if (shown.length === whole.length) return "";
  return html`<span class="cut">cut: ${formatCount(whole.length)} characters in all; the run's journal has them</span>`;
}

/** One line about the arguments of a call. */
export function aboutArgs(args: JsonValue | undefined, longest = 120): string {
  if (args === undefined || args === null) return "";
  if (isRecord(args)) {
    const [only, ...others] = Object.values(args);
    const subject = args["path"] ?? args["command"] ?? (others.length === 0 ? only : undefined);
    if (typeof subject === "string") return clipText(subject.replace(/\s+/g, " "), longest);
    if (only === undefined) return "";
    if (Array.isArray(only) && others.length === 0 && only.every((one) => typeof one === "string"))
      return clipText(only.join(", "), longest);
  }
  return clipText(JSON.stringify(args).slice(0, 4 * longest), longest);
}
