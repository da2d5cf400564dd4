import type {
  ApprovalRequest,
  Preview,
  QuestionField,
  QuestionPreview,
  TextPreview,
  WorkerPreview,
} from "../../protocol/approval.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { Steps } from "../../util/in-steps.ts";
import { formatCount } from "../../util/text/format-count.ts";

import { modelLabel } from "./model-label.ts";
import type { PreviewLine } from "./preview-rows.ts";
import { noLineBreak, renderDiff } from "./render-diff.ts";

/** Returns the lines that a question shows of its call, unescaped. */
export function* previewLines({ preview, args }: ApprovalRequest): Steps<PreviewLine[]> {
  const argumentLines = toLines(JSON.stringify(args, undefined, 2));
  if (!preview) return argumentLines;
  const lines = yield* previewOf(preview);
  return preview.type === "worker" ? [...lines, "with the arguments:", ...argumentLines] : lines;
}

/** Returns the lines of a preview alone; none where there is no preview. */
export function* previewOf(preview: Preview | undefined): Steps<PreviewLine[]> {
  switch (preview?.type) {
    case undefined:
      return [];
    case "diff":
      return yield* renderDiff(preview.path, preview.before, preview.after);
    case "new-file":
      return contentLines(preview.content);
    case "worker":
      return workerLines(preview);
    case "question":
      return questionLines(preview);
    case "text":
      return textLines(preview);
  }
}

/** A replacement in a file shows as a diff also where nobody was asked. */
export function changeIn(args: JsonValue | undefined): Preview | undefined {
  if (!isRecord(args)) return undefined;
  const { path, old_text: before, new_text: after, content } = args;
  if (typeof path !== "string") return undefined;
  if (typeof before === "string" && typeof after === "string") return { type: "diff", path, before, after };
  return typeof content === "string" ? { type: "new-file", path, content, bytes: content.length } : undefined;
}

function workerLines({ worker, caller, can, destination, files }: WorkerPreview): PreviewLine[] {
  const than = caller === undefined ? "" : ` that ${caller} cannot`;
  const sent = files.map(({ name, mediaType, bytes }) => ({ text: `${name}, ${mediaType}, ${formatCount(bytes)} bytes` }));
  return [
    ...(can.length > 0 ? [`what ${worker} can do${than}:`] : worker === caller ? [] : [`${worker} can do nothing${than}`]),
    ...can.map((text) => ({ text })),
    ...(files.length > 0 ? [`sent to ${modelLabel(destination)}:`, ...sent] : []),
  ];
}

/** All words of ours are notes: no text of the server can look like one. */
function questionLines({ from, message, fields }: QuestionPreview): PreviewLine[] {
  return [
    `text of ${from}, not of llm-do and not of the program:`,
    ...toLines(message),
    ...(fields.length > 0 ? ["the arguments are the fields of the answer: edit them; approving sends what is proposed"] : []),
    ...fields.flatMap(fieldLines),
    `what you answer goes to ${from}: do not give it a password or a key`,
  ];
}

function fieldLines({ name, about, takes, isRequired, choices, proposed }: QuestionField): PreviewLine[] {
  return [
    `a field, ${isRequired ? "required" : "which can stay empty"}: ${takes}`,
    ...toLines(name),
    ...(about === "" ? [] : toLines(about)),
    ...(choices ? ["of these:", ...choices.flatMap(toLines)] : []),
    ...(proposed === undefined ? [] : ["proposed is:", ...toLines(JSON.stringify(proposed))]),
  ];
}

/** Words of the question about a command are notes: no line of the command can look like one. */
function textLines({ text, programs, setting }: TextPreview): PreviewLine[] {
  return [
    ...toLines(text),
    ...(programs ? ["programs in it:", ...programs.map((one) => ({ text: one }))] : []),
    ...(setting === undefined ? [] : [setting]),
  ];
}

function contentLines(content: string): PreviewLine[] {
  if (content === "") return ["empty"];
  return content.endsWith("\n") ? toLines(content.slice(0, -1)) : [...toLines(content), noLineBreak];
}

/** A longer text is parted into lines where it is shown. */
const longestSplit = 100_000;

export function toLines(text: string): PreviewLine[] {
  if (text.length > longestSplit) return [{ block: text }];
  return text.split("\n").map((line) => ({ text: line }));
}
