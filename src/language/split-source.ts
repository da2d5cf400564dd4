import type { Report } from "../diagnostics/diagnose.ts";
import type { Source, Span } from "../diagnostics/source.ts";

export interface SplitSource {
  /** The text between the fences. */
  readonly frontmatter: Span;
  /** The text after the closing fence. */
  readonly body: Span;
}

/** A line without its line break, and the offset of the line after it. */
interface Line extends Span {
  readonly text: string;
  readonly next: number;
}

/**
 * Finds the fences of a file, before any YAML is read, so that no key can move them. Reports why a file has none; gives
 * undefined then.
 */
export function splitSource(source: Source, report: Report): SplitSource | undefined {
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  let opening: Line | undefined;
  for (const line of linesFrom(source, start)) {
    const isFence = line.text.trimEnd() === "---";
    if (!opening && !isFence) break;
    if (!opening) opening = line;
    else if (isFence) {
      const body = { source, start: line.next, end: source.text.length };
      return { frontmatter: { source, start: opening.next, end: line.start }, body };
    }
  }
  return opening ? reportUnclosed(opening, report) : reportOpening(source, start, report);
}

function* linesFrom(source: Source, start: number): Generator<Line> {
  for (let at = start; at < source.text.length; ) {
    const lineFeed = source.text.indexOf("\n", at);
    const next = lineFeed === -1 ? source.text.length : lineFeed + 1;
    const text = source.text.slice(at, next).replace(/\r?\n?$/, "");
    yield { source, start: at, end: at + text.length, text, next };
    at = next;
  }
}

function reportOpening(source: Source, start: number, report: Report): undefined {
  const [line] = linesFrom(source, start);
  if (line && /^\s*---/.test(line.text)) return reportFence(line, report);
  const blanks = source.text.slice(start).search(/[^ \t\r\n]/);
  const [first] = linesFrom(source, start + Math.max(0, blanks));
  if (first && blanks > 0 && first.text.startsWith("---")) {
    const notes = [{ message: "delete what stands above it" }, { message: "the fence is here", span: first }];
    const message = "the opening `---` has to be the first line of the file";
    return report("frontmatter-not-first", { message, span: { source, start, end: first.start }, notes });
  }
  if (first && /^\+\+\+\s*$/.test(first.text)) {
    const note = "write `---` in place of `+++`, and `key: value` in place of `key = value`";
    return report("frontmatter-fence", { message: "frontmatter is YAML between `---`, and no TOML", span: first, note });
  }
  const later = first && findLaterFence(source, start);
  if (later) {
    const notes = [
      { message: "move what stands above it below the closing `---`" },
      { message: "the fence is here", span: later },
    ];
    const message = "the opening `---` has to be the first line of the file";
    return report("frontmatter-not-first", { message, span: { source, start, end: later.start }, notes });
  }
  const message = first ? "the file does not begin with frontmatter" : "the file is empty";
  const note = "the smallest worker file is:\n---\n---\nYou answer in one sentence.";
  return report("frontmatter-missing", { message, span: first ?? { source, start: 0, end: 0 }, note });
}

/** The first fence of a file, if a key follows it and another fence closes it. A rule of Markdown has neither. */
function findLaterFence(source: Source, start: number): Line | undefined {
  const lines = [...linesFrom(source, start)];
  const isFence = ({ text }: Line) => text.trimEnd() === "---";
  const [opening, closing] = lines.flatMap((line, index) => (isFence(line) ? [index] : []));
  if (opening === undefined || closing === undefined) return undefined;
  const inside = lines.slice(opening + 1, closing).find(({ text }) => text.trim() !== "");
  return inside && /^[A-Za-z_][\w-]*\s*:/.test(inside.text) ? lines[opening] : undefined;
}

function reportFence(line: Line, report: Report): undefined {
  const rest = line.text.trim().replace(/^-+/, "").trim();
  const message =
    rest === "" ? "a fence is exactly three dashes, at the margin" : `\`${rest}\` cannot follow the dashes of a fence`;
  const language = "frontmatter is always YAML, read as data; nothing in it is ever run";
  const notes = [{ message: "write `---` alone on the line" }];
  return report("frontmatter-fence", { message, span: line, notes, note: rest === "" ? undefined : language });
}

function reportUnclosed(opening: Line, report: Report): undefined {
  const near = [...linesFrom(opening.source, opening.next)].find(({ text }) => /^[ \t]{0,8}---/.test(text));
  const note = near
    ? { message: "this is not a fence: one is exactly `---`, at the margin", span: near }
    : { message: "write a second line `---` between the settings and the instructions" };
  return report("frontmatter-unclosed", { message: "the frontmatter is not closed", span: opening, notes: [note] });
}
