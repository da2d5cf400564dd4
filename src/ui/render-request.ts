import type { ApprovalRequest } from "../protocol/approval.ts";
import { runSteps, type Steps } from "../util/in-steps.ts";
import { callLabel } from "./text/call-label.ts";
import { previewLines, toLines } from "./text/preview-lines.ts";
import { type PreviewLine, PreviewRows, type RowStyle } from "./text/preview-rows.ts";
import { questionPosition } from "./text/question-position.ts";
import { showFirst, showText } from "./text/show-text.ts";
import { cutWords } from "./text/wrap-text.ts";

export interface RequestStyle extends RowStyle {
  /** Shows all of a preview, however long it is. Default false. */
  readonly whole?: boolean;
}

export interface RenderedRequest {
  readonly text: string;
  /** Nothing of the preview was left out. */
  readonly isWhole: boolean;
}

/** A question with the pages of its preview that follow. */
export interface OpenRequest extends RenderedRequest {
  /** Repeats the subject of the question, for use after its first lines have scrolled away. */
  readonly line: string;
  /** The next page; the last one says `isWhole`. */
  readonly more: () => RenderedRequest;
  /** The question from its beginning, for a terminal of this width. */
  readonly again: (columns: number) => OpenRequest;
}

/** Rows of content for a file; the rest is counted. */
const longestContent = 60;
/** Rows of a command or of arguments: they are what runs, so that all of them should be visible at once. */
const longestText = 2000;
/** Rows of each page that follows. */
const longestPage = 500;
/** Rows of what a tall question is about. */
const longestSubject = 2;
/** Characters of what would be done, and of the reason; what goes on is shown as a part of the preview. */
const longestDescription = 2000;

/**
 * A question as a person sees it on a terminal: what is to happen, with what, and why it asks. Everything that a model or a
 * file wrote is escaped, and reads back to the very text: lines of a preview stand behind `| `, their continuations behind `: `,
 * and what else is too long for a line goes on further to the right.
 */
export function renderRequest(request: ApprovalRequest, { whole = false, ...style }: RequestStyle): RenderedRequest {
  const { text, isWhole } = runSteps(openRequest(request, style, whole ? Number.POSITIVE_INFINITY : undefined));
  return { text, isWhole };
}

/** Like `renderRequest`, page by page and in steps, because the comparison of large files takes a while. */
export function* openRequest(request: ApprovalRequest, style: RowStyle, longest = firstPage(request)): Steps<OpenRequest> {
  const preview = yield* previewLines(request);
  return layOut(request, preview, { ...style, longest });
}

function layOut(
  request: ApprovalRequest,
  preview: readonly PreviewLine[],
  { columns, style, longest }: RowStyle & { readonly longest: number },
): OpenRequest {
  const { position, description, why, worker, tool, notShown } = request;
  const isCommand = request.preview?.type === "text" && request.preview.syntax === "shell";
  const isContent = request.preview?.type === "diff" || request.preview?.type === "new-file";
  const paragraph = (first: string, text: string) =>
    cutWords(text, columns - 5).map((row, index) => `${index === 0 ? first : "    "}${row}`);
  const dim = (text: string) => paragraph("  ", showText(text)).map((row) => style("dim", row));
  const head = showText(`Approval ${questionPosition(position)}: ${worker} wants to call ${tool}`);
  const rest = [...restOf("what would be done", description), ...restOf("the reason", why)];
  const pages = new PreviewRows([...preview, ...rest], { columns, style, isCommand, isContent });
  const found = new Map<string, string>();
  const what = showFirst(description.slice(0, longestDescription), { isCommand, found });
  const { rows, isEnd } = pages.take(longest, found);
  const lines = [
    ...paragraph("", head).map((row) => style("bold", row)),
    ...paragraph("  ", what),
    ...rows,
    ...(notShown === undefined
      ? []
      : paragraph("  ", showText(`Not shown, so that it cannot be approved for the run: ${notShown}`))),
    ...dim(`It asks because: ${why.slice(0, longestDescription)}`),
    ...dim(`Call: ${callLabel(request.callPath)}`),
  ];
  const more = () => {
    const page = pages.take(longestPage);
    return { text: page.rows.join("\n"), isWhole: page.isEnd };
  };
  const subject = paragraph("", showText(`${worker} > ${tool}: ${description}`));
  const line = subject
    .slice(0, longestSubject)
    .map((row) => style("bold", row))
    .join("\n");
  const again = (width: number) => layOut(request, preview, { columns: width, style, longest });
  return { text: lines.join("\n"), line, isWhole: isEnd, more, again };
}

function firstPage({ preview }: ApprovalRequest): number {
  return preview?.type === "new-file" || preview?.type === "diff" ? longestContent : longestText;
}

function restOf(what: string, text: string): PreviewLine[] {
  if (text.length <= longestDescription) return [];
  return [`${what}, from where it breaks off:`, ...toLines(text.slice(longestDescription))];
}
