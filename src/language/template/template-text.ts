import type { Source, Span, Spanned } from "../../diagnostics/source.ts";
import type { Range } from "./explain-syntax.ts";

/** The text of a template, and where its characters stand in the file that it comes from. */
export interface TemplateText {
  readonly text: string;
  /** The place of a range; the nearest that is known where the file writes it in another way. */
  readonly spanOf: (range: Range) => Span;
}

/** A text without outputs and tags is no template: it stands for itself. */
export function isTemplate(text: string): boolean {
  return text.includes("{{") || text.includes("{%");
}

export function toTemplateText({ value, span }: Spanned<string>): TemplateText {
  const { source, start: from, end: to } = span;
  const written = source.text.slice(from, to);
  if (written === value) return { text: value, spanOf: ({ begin, end }) => ({ source, start: from + begin, end: from + end }) };
  const found = alignBraces(value, written);
  return {
    text: value,
    spanOf({ begin, end }) {
      const [first = 0, last = to - from] = found(begin, end) ?? [];
      return { source, start: from + first, end: from + last };
    },
  };
}

/** A whole file as a template, without its byte order mark. */
export function fileTemplateText(source: Source): TemplateText {
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  return toTemplateText({ value: source.text.slice(start), span: { source, start, end: source.text.length } });
}

/**
 * A value of YAML is written with quotes, indentation and escapes, but braces are written as they are: the place of a
 * range is found from the last pair of braces before it, which has the same number in both texts.
 */
function alignBraces(value: string, written: string): (start: number, end: number) => [number, number] | undefined {
  const inValue = braces(value);
  const inWritten = braces(written);
  return (start, end) => {
    const index = lastUpTo(inValue, start);
    const opening = inValue[index];
    const place = inWritten[index];
    if (inValue.length !== inWritten.length || opening === undefined || place === undefined) return undefined;
    const isSame = written.startsWith(value.slice(opening, end), place);
    return isSame ? [place + start - opening, place + end - opening] : [place, place + 2];
  };
}

function braces(text: string): number[] {
  return [...text.matchAll(/\{[{%]/g)].map(({ index }) => index);
}

/** Index of the last of some ascending numbers that is not above a limit; -1 if there is none. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
