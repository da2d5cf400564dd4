import { structuredPatch } from "diff";
import type { ApprovalRequest, Preview } from "../protocol/approval.ts";
import { escapeText } from "../util/escape-text.ts";
import { callLabel } from "./call-label.ts";

/** Lines of a preview that are shown; the rest is counted. */
const longestPreview = 60;

/** A question as a person sees it on a terminal. Everything that a model or a file wrote is escaped. */
export function renderRequest(request: ApprovalRequest): string {
  const { position, description, why, worker, preview } = request;
  const lines = [
    `Approval ${position.n} of ${position.m}: ${worker} wants to call ${show(request.tool)}`,
    `  ${show(description)}`,
    `  call: ${callLabel(request.callPath)}`,
    `  why it asks: ${show(why)}`,
  ];
  const shown = preview ? previewLines(preview) : argumentLines(request);
  return [...lines, ...shown.map((line) => `  | ${line}`)].join("\n");
}

function argumentLines({ args }: ApprovalRequest): string[] {
  return clipLines(JSON.stringify(args, undefined, 2).split("\n").map(show));
}

function previewLines(preview: Preview): string[] {
  switch (preview.type) {
    case "diff":
      return clipLines(diffLines(preview));
    case "new-file":
      return [`${show(preview.path)}: a new file of ${preview.bytes} bytes`, ...clipLines(preview.content.split("\n").map(show))];
    case "attachments":
      return [
        `to ${show(preview.destination)}:`,
        ...preview.files.map(({ name, mediaType, bytes }) => `  ${show(name)}, ${mediaType}, ${bytes} bytes`),
      ];
    case "text":
      return clipLines(preview.text.split("\n").map(show));
  }
}

function diffLines({
  path,
  before,
  after,
}: {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}): string[] {
  const { hunks } = structuredPatch(path, path, before, after);
  const changes = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  return [`--- ${show(path)}`, `+++ ${show(path)}`, ...changes.map(show)];
}

function clipLines(lines: readonly string[]): string[] {
  if (lines.length <= longestPreview) return [...lines];
  return [...lines.slice(0, longestPreview), `[${lines.length - longestPreview} more lines are not shown]`];
}

function show(text: string): string {
  return escapeText(text);
}
