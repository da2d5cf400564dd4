import { structuredPatch } from "diff";
import type { ApprovalRequest, Preview } from "../protocol/approval.ts";
import { escapeText } from "../util/escape-text.ts";
import { callLabel } from "./call-label.ts";
import { modelLabel } from "./model-label.ts";
import { cutText, cutWords } from "./wrap-text.ts";

export interface RequestStyle {
  readonly columns: number;
  readonly style: (format: "bold" | "dim" | "green" | "red", text: string) => string;
  /** Shows all of a preview, however long it is. Default false. */
  readonly whole?: boolean;
}

export interface RenderedRequest {
  readonly text: string;
  /** Nothing of the preview was left out. */
  readonly isWhole: boolean;
}

/** A line of the preview, or, as a string, words of the question about it: no line of a preview can look like these. */
type Line = { readonly text: string; readonly format?: "green" | "red" } | string;

/** Rows that are shown of what goes into a file; the rest is counted. */
const longestContent = 60;
/** Of a command or of arguments: they are what runs, and nobody should have to ask for their end. */
const longestText = 2000;

/**
 * A question as a person sees it on a terminal: what is to happen, with what, and why it asks. Everything that a model or a
 * file wrote is escaped, and reads back to the very text: lines of a preview stand behind `| `, their continuations behind `: `,
 * and what else is too long for a line goes on further to the right.
 */
export function renderRequest(request: ApprovalRequest, { columns, style, whole = false }: RequestStyle): RenderedRequest {
  const { position, description, why, worker, tool, preview, notShown } = request;
  const paragraph = (first: string, text: string) =>
    cutWords(text, columns - 5).map((row, index) => `${index === 0 ? first : "    "}${row}`);
  const head = show(`Approval ${position.n} of ${position.m}: ${worker} wants to call ${tool}`);
  const isContent = preview?.type === "new-file" || preview?.type === "diff";
  const longest = whole ? Number.POSITIVE_INFINITY : isContent ? longestContent : longestText;
  const shown = renderPreview(previewLines(request), { columns, style, longest });
  const rows = [
    ...paragraph("", head).map((row) => style("bold", row)),
    ...paragraph("  ", showFirst(description)),
    ...shown.rows,
    ...(notShown === undefined ? [] : paragraph("  ", show(`Not shown, so that it cannot be approved for the run: ${notShown}`))),
    ...paragraph("  ", show(`It asks because: ${why}`)).map((row) => style("dim", row)),
    ...paragraph("  ", show(`Call: ${callLabel(request.callPath)}`)).map((row) => style("dim", row)),
  ];
  return { text: rows.join("\n"), isWhole: shown.isWhole };
}

function previewLines({ preview, args }: ApprovalRequest): Line[] {
  const argumentLines = toLines(JSON.stringify(args, undefined, 2));
  switch (preview?.type) {
    case undefined:
      return argumentLines;
    case "diff":
      return diffLines(preview);
    case "new-file":
      return contentLines(preview.content);
    case "attachments": {
      const files = preview.files.map(({ name, mediaType, bytes }) => ({
        text: `${show(name)}, ${mediaType}, ${count(bytes)} bytes`,
      }));
      return [`sent to ${show(modelLabel(preview.destination))}:`, ...files, "with the arguments:", ...argumentLines];
    }
    case "text":
      return toLines(preview.text);
  }
}

function diffLines({ path, before, after }: Preview & { readonly type: "diff" }): Line[] {
  const { hunks } = structuredPatch(path, path, before, after);
  if (hunks.length === 0) return ["the content stays as it is"];
  return [
    { text: `--- ${show(path)}` },
    { text: `+++ ${show(path)}` },
    ...hunks.flatMap((hunk): Line[] => [
      { text: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@` },
      // The one line with another sign is the diff's own: that the line above it ends the file without a line break.
      ...hunk.lines.map((line) => (line.startsWith("\\") ? noLineBreak : toDiffLine(line))),
    ]),
  ];
}

const noLineBreak = "no line break at the end of the file";

/** The sign stands apart: no mark at the beginning of a line may change it. */
function toDiffLine(line: string): Line {
  const sign = line.slice(0, 1);
  const text = sign + show(line.slice(1));
  return sign === " " ? { text } : { text, format: sign === "+" ? "green" : "red" };
}

function contentLines(content: string): Line[] {
  if (content === "") return ["empty"];
  return content.endsWith("\n") ? toLines(content.slice(0, -1)) : [...toLines(content), noLineBreak];
}

function toLines(text: string): Line[] {
  return text.split("\n").map((line) => ({ text: show(line) }));
}

interface PreviewStyle {
  readonly columns: number;
  readonly style: RequestStyle["style"];
  readonly longest: number;
}

/** Every row has the margin, so that no content can be taken for the question's own words. */
function renderPreview(lines: readonly Line[], { columns, style, longest }: PreviewStyle) {
  const rows: string[] = [];
  const note = (text: string) => cutWords(`(${text})`, columns - 5).map((row, index) => `${index === 0 ? "  " : "    "}${row}`);
  for (const [index, line] of lines.entries()) {
    if (typeof line === "string") {
      rows.push(...note(line));
      continue;
    }
    const left = longest - rows.length;
    if (left <= 0) return { rows: [...rows, ...note(`${count(lines.length - index)} more lines are not shown`)], isWhole: false };
    const { text, format } = line;
    const pieces = cutText(text.slice(0, left * columns), columns - 5);
    rows.push(
      ...pieces.slice(0, left).map((piece, row) => `  ${row === 0 ? "|" : ":"} ${format ? style(format, piece) : piece}`),
    );
    if (pieces.length > left || text.length > left * columns) {
      const rest = `this line goes on, and ${count(lines.length - index - 1)} more lines are not shown`;
      return { rows: [...rows, ...note(rest)], isWhole: false };
    }
  }
  return { rows, isWhole: true };
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

const tab = "→   ";

/** Escaped; a tab is an arrow and three blanks, and what is written like one is escaped. */
function show(text: string): string {
  return text
    .split("\t")
    .map((piece) => escapeText(piece).replaceAll(tab, "\\u{2192}   "))
    .join(tab);
}

/** As `show`, for the beginning of a row: what would look like a margin there is escaped. */
function showFirst(text: string): string {
  return show(text).replace(/^[ |:(]/, (character) => `\\u{${character.charCodeAt(0).toString(16).toUpperCase()}}`);
}
