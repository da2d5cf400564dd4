import { type Document, isCollection, isPair, isScalar, type Range } from "yaml";
import type { DiagnosticCode } from "../../diagnostics/catalogue.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { YamlProblem } from "./parse-yaml.ts";

/** A mistake of YAML as a diagnostic. The offsets are those of its cause, not of where the parser noticed it. */
export interface YamlMistake {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly note?: string;
}

/** Explains a problem of the YAML parser in the author's words. */
export function findYamlMistake(problem: YamlProblem, contents: Document["contents"], text: string): YamlMistake {
  const found = findCause(problem, contents, text);
  const start = Math.min(found.start, text.length);
  return { ...found, start, end: Math.max(start, Math.min(found.end, text.length)) };
}

function findCause(problem: YamlProblem, contents: Document["contents"], text: string): YamlMistake {
  if (isUnclosed(problem)) return findUnclosed(problem, contents, text);
  if (text[problem.start] === "{" && text[problem.start - 1] === "$") return findDollar(problem, text);
  return rules[problem.code]?.(problem, text) ?? syntax(problem, `this cannot be read as YAML: ${problem.message}`);
}

type Rule = (problem: YamlProblem, text: string) => YamlMistake;

function syntax(problem: YamlProblem, message: string, note?: string): YamlMistake {
  return { code: "yaml-syntax", message, start: problem.start, end: problem.end, ...(note && { note }) };
}

const keysOrText =
  "keys of their own begin at the margin of the key above; if the lines below belong to the text, put all of it in quotes";
const quoteIt = "put the whole value in quotes";
const everyKey = "every line at this level is `key: value`; the lines of a longer text are indented under their key";

const misplaced = "the indentation does not fit the lines above";

const rules: Readonly<Record<string, Rule>> = {
  DIRECTIVE: (problem) =>
    syntax(problem, `\`${clipText(problem.message, 40)}\`: YAML directives are not supported`, "delete the line"),
  DOCUMENT_END: (problem) => syntax(problem, `\`${problem.message}\` ends the YAML document in the middle of the frontmatter`),
  TOO_DEEP: (problem) => ({ ...syntax(problem, "this is nested more than 64 levels deep"), code: "yaml-nesting" }),
  TAB_AS_INDENT: (problem) => ({
    ...syntax(problem, "a tab cannot indent YAML", "indent with spaces"),
    code: "yaml-tab",
  }),
  BLOCK_AS_IMPLICIT_KEY: findColon,
  BLOCK_IN_FLOW: findColon,
  BAD_ALIAS: (problem) => ({
    ...syntax(problem, "a value that begins with `*` refers to an anchor", 'if it is a glob, put it in quotes: `"*"`'),
    code: "yaml-alias",
  }),
  BAD_SCALAR_START: (problem, text) =>
    syntax(problem, `a value cannot begin with \`${text[problem.start] ?? ""}\` without quotes`, quoteIt),
  BAD_DQ_ESCAPE: (problem, text) =>
    syntax(
      problem,
      `\`${text.slice(problem.start, problem.start + 2)}\` is not an escape`,
      "in single quotes a backslash is just a backslash",
    ),
  NON_STRING_KEY: (problem) =>
    syntax(
      problem,
      "a key has to be a string",
      "braces and brackets begin a map or a list; if they are text, put the value in quotes",
    ),
  MULTILINE_IMPLICIT_KEY: findNoKey,
  MISSING_CHAR: findNoKey,
  BAD_INDENT: (problem) => syntax(problem, misplaced, everyKey),
  UNEXPECTED_TOKEN: findUnexpected,
};

/** The parser wants a list's next item where a key of an item is indented less than the others. */
function findNoKey(problem: YamlProblem, text: string): YamlMistake {
  return /^ +[\w-]+:(?: |$)/.test(restOfLine(text, problem.start))
    ? syntax(problem, misplaced, "keys that belong together begin in the same column")
    : syntax(problem, "this line is no `key: value`", everyKey);
}

function findUnexpected(problem: YamlProblem, text: string): YamlMistake {
  if (problem.message.endsWith("at node end")) {
    return syntax(problem, "there is text after the end of the value", quoteIt);
  }
  const character = text[problem.start] ?? "";
  if ("}]".includes(character))
    return syntax(problem, `\`${character}\` closes nothing here`, "if it is text, put the value in quotes");
  if (problem.message.startsWith("Unexpected block-seq-ind")) {
    return syntax(problem, "a list cannot begin on the line of its key", "begin it on the next line, or write `[a, b]`");
  }
  if (character === ",") return syntax(problem, "there is no value before this comma");
  return syntax(problem, `\`${clipText(text.slice(problem.start, problem.end), 40)}\` cannot stand here`, quoteIt);
}

/** Quotes of a word processor around a value, which YAML takes for letters. */
const typographic = /^[\u201c\u201d\u201e\u201f\u2018\u2019\u00ab](.*)[\u201c\u201d\u2018\u2019\u00bb]$/s;

/** `description: Note: this`, which YAML takes for a map in the middle of a line. */
function findColon(problem: YamlProblem, text: string): YamlMistake {
  const inFlow = problem.code === "BLOCK_IN_FLOW";
  const line = restOfLine(text, problem.start);
  const value = (inFlow ? line.replace(/[,}\]].*$/, "") : line).trimEnd();
  if (!/:(\s|$)/.test(value)) {
    return syntax(problem, "a value and keys under it cannot go together", keysOrText);
  }
  const note = value.length > 100 ? quoteIt : `${quoteIt}: \`${JSON.stringify(value.replace(typographic, "$1"))}\``;
  const message = "a colon in a value without quotes begins a map";
  return { code: "yaml-colon", message, note, start: problem.start, end: problem.start + value.length };
}

function findDollar(problem: YamlProblem, text: string): YamlMistake {
  const start = problem.start - 1;
  const variable = /^\$\{[\w.:-]*\}?/.exec(text.slice(start, start + 80))?.[0] ?? "${";
  return {
    code: "yaml-flow-dollar",
    message: `\`${variable}\` needs quotes between braces`,
    note: `write \`"${variable}"\``,
    start,
    end: start + variable.length,
  };
}

function restOfLine(text: string, start: number): string {
  const lineFeed = text.indexOf("\n", start);
  return text.slice(start, lineFeed === -1 ? text.length : lineFeed).replace(/\r$/, "");
}

function isUnclosed(problem: YamlProblem): boolean {
  return (
    (problem.code === "MISSING_CHAR" && /closing|to end with/.test(problem.message)) ||
    (problem.code === "BAD_INDENT" && problem.message.startsWith("Flow"))
  );
}

/** The parser notices at the end of the text, or where the next key begins; the author needs to see the beginning. */
function findUnclosed(problem: YamlProblem, contents: Document["contents"], text: string): YamlMistake {
  const start = findOpening(contents, problem.start, /quote/.test(problem.message));
  const opening = text[start] ?? "";
  const closing = { "[": "]", "{": "}", '"': '"', "'": "'" }[opening];
  if (closing === undefined) return syntax(problem, "something is not closed here");
  const message = `the \`${opening}\` is not closed`;
  return { code: "yaml-syntax", message, start, end: start + 1, note: `add the \`${closing}\`` };
}

/** Start of the innermost collection in braces, or of the text in quotes, among the nodes that lead to an offset. */
function findOpening(contents: unknown, before: number, inQuotes: boolean): number {
  let opening = before;
  let node: unknown = contents;
  for (;;) {
    const start = startOf(node);
    if (isScalar(node) && inQuotes) opening = start ?? opening;
    if (!isCollection(node)) return opening;
    if (node.flow) opening = start ?? opening;
    node = lastChildBefore(node.items, before);
  }
}

function lastChildBefore(items: readonly unknown[], before: number): unknown {
  const children = items.flatMap((item) => (isPair(item) ? [item.key, item.value] : [item]));
  return children.findLast((child) => (startOf(child) ?? before) < before);
}

function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { range?: Range | null };
  return range?.[0];
}
