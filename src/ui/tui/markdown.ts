import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import stringWidth from "string-width";
import { showProse } from "../text/show-text.ts";
import { cutText } from "../text/wrap-text.ts";
import { type Format, type Layout, type Span, span, wrapSpans } from "./spans.ts";

/** Renders Markdown as rows. Whatever a terminal would obey is escaped, also in code and links. */
export function renderMarkdown(text: string, layout: Layout): string[] {
  return renderBlocks(lexer(text), layout);
}

/** Renders blocks, with an empty row wherever the text has one. */
export function renderBlocks(tokens: readonly Token[], layout: Layout): string[] {
  return tokens.flatMap((token) => renderBlock(token as MarkedToken, layout));
}

function renderBlock(token: MarkedToken, layout: Layout): string[] {
  switch (token.type) {
    case "space":
      return [""];
    case "heading":
      return wrapSpans(inline(token.tokens, token.depth === 1 ? ["bold", "underline"] : ["bold"]), layout);
    case "paragraph":
      return wrapSpans(inline(token.tokens), layout);
    case "text":
      return wrapSpans(token.tokens ? inline(token.tokens) : [span(showProse(token.text))], layout);
    case "code":
      return renderCode(token.text, layout);
    case "list":
      return renderList(token, layout);
    case "blockquote":
      return indented(renderBlocks(token.tokens ?? [], narrowed(layout, 2)), layout.style(["dim"], "│ "));
    case "table":
      return renderTable(token, layout);
    case "hr":
      return [layout.style(["dim"], "─".repeat(Math.max(1, Math.min(40, layout.columns))))];
    default:
      return wrapSpans([span(showProse(token.raw.trimEnd()))], layout);
  }
}

/** Renders the lines of code, which are not joined or broken between words. */
export function renderCode(text: string, layout: Layout): string[] {
  if (text === "") return [];
  const rows = showProse(text)
    .split("\n")
    .flatMap((line) => cutText(line, Math.max(8, layout.columns - 4)));
  return rows.map((row) => `    ${layout.style(["cyan"], row)}`);
}

function renderList({ ordered, start, items }: Tokens.List, layout: Layout): string[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${Number(start) + index}. ` : "• ";
    const rows = renderBlocks(item.tokens, narrowed(layout, mark.length));
    const trimmed = rows.at(-1) === "" ? rows.slice(0, -1) : rows;
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    return trimmed.map((row, at) => (at === 0 ? `${mark}${box}${row}` : `${" ".repeat(mark.length)}${row}`));
  });
}

function renderTable({ header, rows }: Tokens.Table, layout: Layout): string[] {
  const textOf = (cell: Tokens.TableCell) =>
    inline(cell.tokens)
      .map(({ text }) => text.replaceAll("\n", " "))
      .join("");
  const table = [header, ...rows].map((row) => row.map(textOf));
  const widths = header.map((_, column) => Math.max(...table.map((row) => stringWidth(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => `${cell}${" ".repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(cell)))}`).join("  ");
  if (widths.reduce((sum, width) => sum + width + 2, 0) <= layout.columns + 2)
    return table.map((row, index) => (index === 0 ? layout.style(["bold"], line(row)) : line(row)));
  const [names = [], ...bodies] = table;
  return bodies.flatMap((row) =>
    row.flatMap((cell, column) =>
      wrapSpans([span(`${names[column]}: `, "bold"), span(cell)], layout, {
        first: column === 0 ? "• " : "  ",
        indent: "    ",
      }),
    ),
  );
}

function narrowed({ columns, style }: Layout, by: number): Layout {
  return { columns: Math.max(8, columns - by), style };
}

function indented(rows: readonly string[], margin: string): string[] {
  return rows.map((row) => `${margin}${row}`);
}

/** Flattens inline tokens. A link is followed by its address where the text does not say it. */
function inline(tokens: readonly Token[] | undefined, formats: readonly Format[] = []): Span[] {
  return (tokens ?? []).flatMap((one): Span[] => {
    const token = one as MarkedToken;
    const inner = "tokens" in token ? token.tokens : undefined;
    const within = (...more: Format[]) => inline(inner, [...formats, ...more]);
    switch (token.type) {
      case "strong":
        return within("bold");
      case "em":
        return within("italic");
      case "del":
        return within("dim");
      case "codespan":
        return [span(showProse(token.text), ...formats, "cyan")];
      case "br":
        return [span("\n")];
      case "link": {
        const shown = within("underline");
        const isPlain = shown.map(({ text }) => text).join("") === token.href;
        return isPlain ? shown : [...shown, span(` (${showProse(token.href)})`, "dim")];
      }
      case "image":
        return [span(`[${showProse(token.text)}] (${showProse(token.href)})`, "dim")];
      case "checkbox":
        return [];
      default:
        if (inner) return within();
        return [span(decode(showProse("text" in token ? String(token.text) : token.raw)), ...formats)];
    }
  });
}

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
