import type { DiagnosticDetails } from "../../diagnostics/diagnose.ts";
import type { DiagnosticNote } from "../../diagnostics/diagnostic.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { LiquidFailure } from "./template-error.ts";
import type { TemplateText } from "./template-text.ts";

/** The note for braces that belong to the prose. */
export const rawNote: DiagnosticNote = {
  message: "if the braces are part of the text, put `{% raw %}` before it and `{% endraw %}` after it",
};

/** A part of a template's text, as the engine's tokens have it. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** The engine's messages in the author's words; a function gets the text from where it stopped reading. */
const messages: readonly (readonly [RegExp, string | ((rest: string) => string)])[] = [
  [/^tag .*not closed/s, "this `{%` is not closed by `%}`"],
  [/^output .*not closed/s, "this `{{` is not closed by `}}`"],
  [/^raw .*not closed/s, "this text is `{% raw %}`, and no `{% endraw %}` ends it"],
  [/^illegal tag syntax/, "a tag begins with its name, such as `{% if … %}`"],
  [/^invalid value expression/, (rest) => (rest === "" ? "a value is missing here" : `\`${shown(rest)}\` is not a value`)],
  [/^expected filter name/, "the name of a filter is missing after `|`"],
  [/^expected ":" after filter name/, "a colon belongs between a filter and its arguments"],
  [/^\[ not closed/, "the `[` is not closed"],
  [/^invalid range syntax/, "brackets are for ranges, such as `(1..5)`; there are no others in an expression"],
  [/value expected/, (rest) => (rest === "" ? "a value is missing here" : `\`${shown(rest)}\` is not a value`)],
];

/** A mistake that the engine found, at the place that it names, or else at the place where it was reading. */
export function explainSyntax(error: unknown, text: TemplateText, range: Range): DiagnosticDetails {
  const { originalError, message = "", token } = (error ?? {}) as LiquidFailure;
  const original = originalError?.message ?? message.replace(/, (?:file:.*, )?line:\d+, col:\d+$/s, "");
  const at = placeOf(original, token?.begin, { text: text.text, range });
  const rest = text.text.slice(at, Math.max(range.end, at));
  const known = messages.find(([pattern]) => pattern.test(original))?.[1];
  const sentence = typeof known === "function" ? known(rest.trim()) : (known ?? cannotStand(rest.trim()));
  return diagnoseSyntax(text, { begin: at, end: Math.max(range.end, at) }, sentence);
}

/** The engine gives the offset where it stopped reading; the mistake may be a character or two before. */
function placeOf(message: string, begin: number | undefined, { text, range }: { text: string; range: Range }): number {
  if (begin === undefined || message.includes("not closed")) return range.begin;
  const isPast = /^expected ("\|" before filter|filter name)/.test(message);
  const isCall = text.slice(begin - 1, begin + 1) === "()";
  const at = message.startsWith("invalid range syntax") ? text.lastIndexOf("(", begin) : begin - (isPast || isCall ? 1 : 0);
  return Math.max(range.begin, Math.min(at, range.end));
}

export function diagnoseSyntax({ text, spanOf }: TemplateText, range: Range, message: string): DiagnosticDetails {
  const rest = text.slice(range.begin, range.end);
  const called = /\b(?:file|include|read|load|import)\s*$/.test(text.slice(0, range.begin));
  const habit = called && rest.startsWith("(") ? habitOfFiles : habits.find(([pattern]) => pattern.test(rest))?.[1];
  return { message, span: spanOf(range), notes: [...(habit ? [{ message: habit }] : []), rawNote] };
}

export function cannotStand(rest: string): string {
  if (rest === "|") return "the name of a filter is missing after `|`";
  return rest === "" ? "something is missing here" : `\`${shown(rest)}\` cannot stand here`;
}

function shown(text: string): string {
  return clipText(text.split("\n", 1)[0] ?? "", 30);
}

const habitOfFiles = 'another file is put in by `{% render "file.md" %}`';

/** Notations of other languages, with a note for each. */
const habits: readonly (readonly [RegExp, string])[] = [
  [/^\s*&&/, "“and” is written `and`"],
  [/^\s*\|\|/, "“or” is written `or`"],
  [/^\s*!(?!=)/, "“not” is written `not`, or `{% unless … %}`"],
  [/^\s*=(?!=)/, "“equal” is written `==`"],
  [/^\s*\?/, "a choice is written `{% if … %}…{% else %}…{% endif %}`"],
  [/^\s*\(/, "there are no functions to call: values are changed by filters, such as `{{ name | upcase }}`"],
  [/^(?:\{\{)?\s*[#/^]/, "a block is written `{% if … %}…{% endif %}` or `{% for … in … %}…{% endfor %}`"],
  [/^(?:\{\{)?\s*>/, habitOfFiles],
];
