import { escapeText } from "../util/text/escape-text.ts";
import { lineSpan, positionAt } from "./position.ts";
import type { Span } from "./source.ts";

/** Returns how many columns a text takes. */
export type Measure = (text: string) => number;

const shownBefore = 60;
const shownMarked = 80;
const shownAfter = 40;

/**
 * The line on which a span begins, with carets under the span:
 *
 *     --> main.worker:3:1
 *      |
 *    3 | toolset:
 *      | ^^^^^^^
 */
export function renderCodeFrame(span: Span, measure: Measure): string[] {
  const { line, column } = positionAt(span.source, span.start);
  const gutter = " ".repeat(String(line).length);
  const { before, marked, after } = cutLine(span, line);
  const carets = "^".repeat(Math.max(1, measure(marked)));
  return [
    `${gutter}--> ${showText(span.source.name)}:${line}:${column}`,
    `${gutter} |`,
    `${line} | ${before}${marked}${after}`.trimEnd(),
    `${gutter} | ${" ".repeat(measure(before))}${carets}`,
  ];
}

/** A text as a person may see it: nothing in it moves the cursor, hides or turns around. */
export function showText(text: string): string {
  return escapeText(text.replaceAll("\t", "  "), { keepBackslashes: true });
}

function cutLine(span: Span, line: number): { before: string; marked: string; after: string } {
  const { text } = span.source;
  const whole = lineSpan(span.source, line);
  const start = Math.min(span.start, whole.end);
  const end = Math.max(start, Math.min(span.end, whole.end));
  const from = atCharacter(text, Math.max(whole.start, start - shownBefore));
  const markedEnd = atCharacter(text, Math.min(end, start + shownMarked));
  const to = atCharacter(text, Math.min(whole.end, markedEnd + shownAfter));
  const cutInside = markedEnd < end;
  return {
    before: (from > whole.start ? "…" : "") + showText(text.slice(from, start)),
    marked: showText(text.slice(start, markedEnd)),
    after: cutInside ? "…" : showText(text.slice(markedEnd, to)) + (to < whole.end ? "…" : ""),
  };
}

/** One less where an offset would part a surrogate pair. */
function atCharacter(text: string, offset: number): number {
  const isPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(offset - 1, offset + 1));
  return isPair ? offset - 1 : offset;
}
