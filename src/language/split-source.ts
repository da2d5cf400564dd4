import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source, Span } from "../diagnostics/source.ts";

export interface SplitSource {
  /** The text between the fences. */
  readonly frontmatter: Span;
  /** The text after the closing fence. */
  readonly body: Span;
}

/** Finds the fences of a file. They are found by hand, before any YAML is read, so that no key can move them. */
export function splitSource(source: Source): SplitSource | Diagnostic {
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  const opening = lineAt(source, start);
  if (textOf(opening).trimEnd() !== "---") return diagnoseOpening(source, start);
  const from = afterLine(opening);
  for (let at = from; at < source.text.length; ) {
    const line = lineAt(source, at);
    if (isFence(line)) {
      return { frontmatter: { source, start: from, end: at }, body: { source, start: afterLine(line), end: source.text.length } };
    }
    at = afterLine(line);
  }
  return diagnoseUnclosed(opening, from);
}

function isFence(line: Span): boolean {
  return line.source.text.startsWith("---", line.start) && textOf(line).trimEnd() === "---";
}

const minimalForm = "the smallest worker file is:\n---\n---\nYou answer in one sentence.";

function diagnoseOpening(source: Source, start: number): Diagnostic {
  const text = source.text;
  const line = lineAt(source, start);
  if (/^\s*---/.test(textOf(line))) return diagnoseFence(line);
  const content = skipBlank(text, start);
  const first = lineAt(source, content);
  if (content > start && text.startsWith("---", content)) {
    return diagnose("frontmatter-not-first", {
      message: "the opening `---` has to be the first line of the file",
      span: { source, start, end: content },
      notes: [{ message: "delete what stands above it" }, { message: "the fence is here", span: first }],
    });
  }
  return diagnose("frontmatter-missing", {
    message: text.length > start ? "the file does not begin with frontmatter" : "the file is empty",
    span: text.length > start ? first : { source, start: 0, end: 0 },
    note: minimalForm,
  });
}

function diagnoseFence(line: Span): Diagnostic {
  const rest = textOf(line).trim().replace(/^-+/, "").trim();
  const message =
    rest === "" ? "a fence is exactly three dashes, at the margin" : `\`${rest}\` cannot follow the dashes of a fence`;
  const language = { message: "frontmatter is always YAML, read as data; nothing in it is ever run" };
  const notes = [{ message: "write `---` alone on the line" }, ...(rest === "" ? [] : [language])];
  return diagnose("frontmatter-fence", { message, span: line, notes });
}

function diagnoseUnclosed(opening: Span, from: number): Diagnostic {
  const near = findNearFence(opening.source, from);
  const note = near
    ? { message: "this is not a fence: one is exactly `---`, at the margin", span: near }
    : { message: "write a second line `---` between the settings and the instructions" };
  return diagnose("frontmatter-unclosed", { message: "the frontmatter is not closed", span: opening, notes: [note] });
}

function findNearFence(source: Source, from: number): Span | undefined {
  for (let at = from; at < source.text.length; ) {
    const line = lineAt(source, at);
    if (/^[ \t]{0,8}---/.test(source.text.slice(at, Math.min(at + 12, line.end)))) return line;
    at = afterLine(line);
  }
  return undefined;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
  return at;
}

/** A line without its line break. */
function lineAt(source: Source, start: number): Span {
  const lineFeed = source.text.indexOf("\n", start);
  const end = lineFeed === -1 ? source.text.length : lineFeed;
  const hasReturn = end > start && source.text[end - 1] === "\r";
  return { source, start, end: hasReturn ? end - 1 : end };
}

function afterLine(line: Span): number {
  const { text } = line.source;
  let at = line.end;
  if (text[at] === "\r") at++;
  if (text[at] === "\n") at++;
  return at;
}

function textOf(span: Span): string {
  return span.source.text.slice(span.start, span.end);
}
