import type { Report } from "../diagnostics/diagnose.ts";
import { clipText } from "../util/clip-text.ts";
import type { ScalarNode } from "./syntax-node.ts";

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
