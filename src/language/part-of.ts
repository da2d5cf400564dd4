import type { Span } from "../diagnostics/source.ts";

/** The place of the beginning of a value, with or without quotes around it; all of it where the text is not found. */
export function partOf(span: Span, beginning: string): Span {
  const { text } = span.source;
  for (const start of [span.start, span.start + 1]) {
    const end = start + beginning.length;
    if (end <= span.end && text.startsWith(beginning, start)) return { source: span.source, start, end };
  }
  return span;
}
