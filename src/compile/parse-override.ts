import type { Report } from "../diagnostics/diagnose.ts";
import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import { parseYaml } from "../language/parse-yaml.ts";
import type { SyntaxNode } from "../language/syntax-node.ts";
import { createFlagSource, wholeOf } from "./flag.ts";

/** `--set worker.key=value`, taken apart. */
export interface Override {
  readonly text: string;
  readonly segments: readonly [Spanned<string>, ...Spanned<string>[]];
  readonly value: SyntaxNode;
}

const form = 'write `key=value` or `worker.key=value`; a key with dots in it as `["literal"]`';

/**
 * Reads dots, `["literal"]` segments, and a value: JSON, `true` or `false` in any case, or else text. The first `=` outside
 * of brackets splits. Undefined, with a diagnostic, where that cannot be done.
 */
export function parseOverride(text: string, report: Report): Override | undefined {
  const source = createFlagSource(`--set ${text}`, text);
  const segments: Spanned<string>[] = [];
  for (let at = 0; ; ) {
    const read = text[at] === "[" ? readBracket(source, at) : readWord(source, at);
    if ("problem" in read) return refuse(read.problem, { source, start: at, end: Math.max(at, text.length) }, report);
    segments.push(read.segment);
    at = read.end;
    if (text[at] === "=") return finish(source, { segments, at: at + 1 }, report);
    if (text[at] === ".") at++;
    else if (text[at] !== "[")
      return refuse(
        text[at] === undefined ? "there is no `=`" : "a `.` or `=` is missing here",
        { source, start: at, end: text.length },
        report,
      );
  }
}

function finish(
  source: Source,
  { segments, at }: { segments: Spanned<string>[]; at: number },
  report: Report,
): Override | undefined {
  const [first, ...rest] = segments;
  if (!first) return undefined;
  return {
    text: source.text,
    segments: [first, ...rest],
    value: readValue({ source, start: at, end: source.text.length }, report),
  };
}

type ReadSegment = { readonly segment: Spanned<string>; readonly end: number } | { readonly problem: string };

function readWord(source: Source, start: number): ReadSegment {
  const [written = ""] = /^[^.[=]*/.exec(source.text.slice(start)) ?? [];
  const value = written.trim();
  const end = start + written.length;
  if (value === "")
    return { problem: source.text[end] === undefined && start === 0 ? "there is no key" : "a part of the key is empty" };
  const from = start + written.indexOf(value);
  return { segment: { value, span: { source, start: from, end: from + value.length } }, end };
}

/** A quoted text in brackets, with either quote and backslash escapes. */
function readBracket(source: Source, start: number): ReadSegment {
  const [written, double, single] = /^\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/s.exec(source.text.slice(start)) ?? [];
  if (written === undefined) return { problem: "a bracket holds one quoted text, and is closed" };
  const value = (double ?? single ?? "").replace(/\\(.)/gs, "$1");
  if (value.trim() === "") return { problem: "a part of the key is empty" };
  const end = start + written.length;
  return { segment: { value, span: { source, start, end } }, end };
}

/** Collections are read as the YAML that JSON is, so that each value in them knows its place. */
function readValue(span: Span, report: Report): SyntaxNode {
  const text = span.source.text.slice(span.start, span.end);
  const node = { kind: "scalar" as const, span, text, plain: false };
  if (/^\s*true\s*$/i.test(text)) return { ...node, value: true };
  if (/^\s*false\s*$/i.test(text)) return { ...node, value: false };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return parseYaml(span, report);
    return { ...node, text: text.trim(), value: value as string | number | boolean | null };
  } catch {
    return { ...node, value: text };
  }
}

/** `--model-for glob=model`: the glob is matched against workers' names and ids. */
export function parseModelFor(
  text: string,
  report: Report,
): { readonly pattern: Spanned<string>; readonly glob: string; readonly model: Spanned<string> } | undefined {
  const source = createFlagSource(`--model-for ${text}`, text);
  const split = text.indexOf("=");
  const pattern = text.slice(0, Math.max(0, split));
  const model = text.slice(split + 1);
  if (split < 0 || pattern.trim() === "" || model.trim() === "") {
    const note = "write `pattern=provider:name`, for example `*_reviewer=anthropic:claude-sonnet-4-5`";
    return refuse("this names no workers or no model", wholeOf(source), report, note);
  }
  return {
    pattern: { value: pattern.trim(), span: { source, start: 0, end: split } },
    glob: pattern.trim(),
    model: { value: model.trim(), span: { source, start: split + 1, end: text.length } },
  };
}

function refuse(message: string, span: Span, report: Report, note = form): undefined {
  return report("override-syntax", { message, span, note });
}
