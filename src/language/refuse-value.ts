import { clipText } from "../util/clip-text.ts";
import type { ReadContext } from "./shape.ts";
import type { SyntaxNode } from "./syntax-node.ts";

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
