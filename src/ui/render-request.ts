import { structuredPatch } from "diff";
import type { ApprovalRequest, Preview } from "../protocol/approval.ts";
import { escapeText } from "../util/escape-text.ts";
import { callLabel } from "./call-label.ts";
import { modelLabel } from "./model-label.ts";
import { cutText, wrapWords } from "./wrap-text.ts";

export interface RequestStyle {
  readonly columns: number;
  readonly style: (format: "bold" | "dim" | "green" | "red", text: string) => string;
}

type Line = readonly [text: string, format?: "green" | "red"];

/** Rows of a preview that are shown; the rest is counted. */
const longestPreview = 60;

/**
 * A question as a person sees it on a terminal: what is to happen, with what, and why it asks. Everything that a model or a
 * file wrote is escaped, and stands behind a margin on every line that it takes.
 */
export function renderRequest(request: ApprovalRequest, { columns, style }: RequestStyle): string {
  const { position, description, why, worker, tool, preview } = request;
  const indented = (text: string) => wrapWords(text, columns - 3).map((line) => `  ${line}`);
  const head = `Approval ${position.n} of ${position.m}: ${show(worker)} wants to call ${show(tool)}`;
  const shown = preview ? previewLines(preview, request) : argumentLines(request);
  return [
    ...wrapWords(head, columns - 1).map((line) => style("bold", line)),
    ...indented(show(description)),
    ...renderPreview(shown, { columns, style }),
    ...indented(`It asks because: ${show(why)}`).map((line) => style("dim", line)),
    ...indented(`Call: ${callLabel(request.callPath)}`).map((line) => style("dim", line)),
  ].join("\n");
}

function argumentLines({ args }: ApprovalRequest): Line[] {
  return toLines(JSON.stringify(args, undefined, 2));
}

function previewLines(preview: Preview, request: ApprovalRequest): Line[] {
  switch (preview.type) {
    case "diff":
      return diffLines(preview);
    case "new-file":
      return toLines(preview.content);
    case "attachments":
      return [
        [`sent to ${show(modelLabel(preview.destination))}:`],
        ...preview.files.map(({ name, mediaType, bytes }): Line => [`  ${show(name)}, ${mediaType}, ${count(bytes)} bytes`]),
        ["with:"],
        ...argumentLines(request),
      ];
    case "text":
      return toLines(preview.text);
  }
}

function diffLines({ path, before, after }: Preview & { readonly type: "diff" }): Line[] {
  const { hunks } = structuredPatch(path, path, before, after);
  if (hunks.length === 0) return [["(the content stays as it is)"]];
  return [
    [`--- ${show(path)}`],
    [`+++ ${show(path)}`],
    ...hunks.flatMap((hunk): Line[] => [
      [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`],
      ...hunk.lines.map((line): Line => [show(line), ...formatOf(line)]),
    ]),
  ];
}

function formatOf(line: string): readonly ["green" | "red"] | readonly [] {
  if (line.startsWith("+")) return ["green"];
  return line.startsWith("-") ? ["red"] : [];
}

/** The final line break of a text begins no line. */
function toLines(text: string): Line[] {
  if (text === "") return [["(empty)"]];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => [show(line)]);
}

/** Every row has the margin, so that no content can be taken for the question's own words. */
function renderPreview(lines: readonly Line[], { columns, style }: RequestStyle): string[] {
  const rows: string[] = [];
  for (const [index, [text, format]] of lines.entries()) {
    const left = longestPreview - rows.length;
    if (left <= 0) return [...rows, `  | [${count(lines.length - index)} more lines are not shown]`];
    const pieces = cutText(text.slice(0, left * columns), columns - 5);
    rows.push(
      ...pieces.slice(0, left).map((piece, row) => `  ${row === 0 ? "|" : ":"} ${format ? style(format, piece) : piece}`),
    );
    if (pieces.length > left || text.length > left * columns) {
      return [...rows, `  | [this line goes on, and ${count(lines.length - index - 1)} more lines are not shown]`];
    }
  }
  return rows;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function show(text: string): string {
  return text
    .split("\t")
    .map((piece) => escapeText(piece))
    .join("→   ");
}
