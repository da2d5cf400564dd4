import type { Report } from "../../diagnostics/diagnose.ts";
import type { Span } from "../../diagnostics/source.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { ScalarNode, SyntaxNode } from "../yaml/syntax-node.ts";
import type { ReadContext } from "./shape.ts";

/** Returns the note where a file has to be a map: what a colon lacks, if that is it. */
export function linesNote(root: SyntaxNode): string {
  const [, key, afterColon, rest] = (root.kind === "scalar" && /^([\w-]+):([^ ])(.*)/.exec(root.text)) || [];
  if (afterColon === undefined) return "write lines of `key: value`";
  if (afterColon.trim() === "")
    return "what follows the colon looks like a space, but is another character: type the space again";
  return `a space has to follow the colon: \`${clipText(`${key}: ${afterColon}${rest}`, 100)}\``;
}

/**
 * Reports that a value is not of the type wanted, or that there is none. An unreadable one has been reported already.
 * `wanted` continues "has to be".
 */
export function refuseValue(
  node: SyntaxNode,
  context: ReadContext,
  expected: { readonly wanted: string; readonly note?: string | undefined },
): undefined {
  if (node.kind === "unreadable") return undefined;
  const subject = context.path === "" ? "this" : `\`${context.path}\``;
  if (node.kind === "scalar" && node.value === null) {
    const message = `${subject} has no value; it has to be ${expected.wanted}`;
    return context.report("missing-value", { message, span: node.span, note: missingNote(node.text) });
  }
  const message = `${subject} has to be ${expected.wanted}, not ${describeNode(node)}`;
  const notes = expected.note ? [{ message: expected.note }] : [];
  return context.report("wrong-type", { message, span: node.span, notes });
}

function missingNote(text: string): string {
  if (text === "") return "write a value, or delete the key";
  return `\`${text}\` without quotes means “no value”; write \`"${text}"\` for the text, or delete the key`;
}

export function describeNode(node: SyntaxNode): string {
  if (node.kind === "map") return "a map";
  if (node.kind === "list") return "a list";
  if (node.kind === "unreadable") return "unreadable";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string") return `the text \`${clipText(node.value, 40)}\``;
  return `the ${typeof node.value} \`${clipText(node.text, 40)}\``;
}

/**
 * Warns where a comment after a text without quotes was probably meant as text: `issue #12`, and in prose any comment.
 */
export function warnOfComment(node: ScalarNode, options: { readonly prose: boolean; readonly report: Report }): void {
  const { text } = node.span.source;
  if (!node.plain || text.startsWith("*", node.span.start)) return;
  let start = node.span.end;
  while (text[start] === " " || text[start] === "\t") start++;
  if (start === node.span.end || text[start] !== "#") return;
  if (!options.prose && !/[^\s#!]/.test(text.charAt(start + 1))) return;
  const lineFeed = text.indexOf("\n", start);
  const rest = text.slice(start, lineFeed === -1 ? text.length : lineFeed).trimEnd();
  const message = `\`${clipText(rest, 40)}\` is a comment, not part of the value`;
  const span = { source: node.span.source, start, end: start + rest.length };
  const note = "put the value in quotes if it is text, or the comment on a line of its own";
  options.report("yaml-comment", { message, span, note });
}

/** The place of the beginning of a value, with or without quotes around it; all of it where the text is not found. */
export function partOf(span: Span, beginning: string): Span {
  const { text } = span.source;
  for (const start of [span.start, span.start + 1]) {
    const end = start + beginning.length;
    if (end <= span.end && text.startsWith(beginning, start)) return { source: span.source, start, end };
  }
  return span;
}
