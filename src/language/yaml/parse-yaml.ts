import { Composer, type CST, type Document, Lexer, Parser } from "yaml";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { Span } from "../../diagnostics/source.ts";
import { buildSyntaxTree } from "./build-syntax-tree.ts";
import { findYamlMistake } from "./diagnose-yaml-problem.ts";
import type { SyntaxNode } from "./syntax-node.ts";

const maxLength = 64 * 1024;
const maxProblems = 10;

/**
 * Reads a part of a source as YAML. A text that is not YAML is mended by leaving out the top-level entry with the
 * problem and reading again, so that each broken entry is reported once and all the others are read: ten times at most,
 * so that the work stays in proportion to the text. Never throws; gives an unreadable node where nothing is left.
 */
export function parseYaml(span: Span, report: Report): SyntaxNode {
  if (span.end - span.start > maxLength) {
    const start = { ...span, end: span.start };
    report("frontmatter-too-large", { message: `the frontmatter is longer than ${maxLength} characters`, span: start });
    return { kind: "unreadable", span };
  }
  let text = span.source.text.slice(span.start, span.end);
  for (let round = 0; round < maxProblems; round++) {
    const { contents, problem } = composeYaml(text);
    if (problem === undefined) {
      const tree = buildSyntaxTree(contents, span, report);
      return round > 0 && tree.kind === "map" ? { ...tree, isPartial: true } : tree;
    }
    const { code, message, note, start, end } = findYamlMistake(problem, contents, text);
    const at = { source: span.source, start: span.start + start, end: span.start + end };
    report(code, { message, note, span: at });
    text = leaveOutEntry(text, start);
  }
  return { kind: "unreadable", span };
}

/** Blanks the top-level entry at an offset; everything else keeps its place. */
function leaveOutEntry(text: string, offset: number): string {
  let start = 0;
  let end = text.length;
  for (let line = 0; line < text.length; ) {
    if (beginsEntry(text, line)) {
      if (line > offset) {
        end = line;
        break;
      }
      start = line;
    }
    const lineFeed = text.indexOf("\n", line);
    line = lineFeed === -1 ? text.length : lineFeed + 1;
  }
  return text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, " ") + text.slice(end);
}

function beginsEntry(text: string, line: number): boolean {
  return !" \t\r\n#}]".includes(text.charAt(line)) && !/^-\s/.test(text.slice(line, line + 2));
}

/** The reason why a text is not YAML as frontmatter allows it; offsets count from the start of the text. */
export interface YamlProblem {
  /** A code of the YAML library, or one of the two that it has not. */
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

export interface ComposedYaml {
  readonly contents: Document["contents"];
  /** The first problem. The contents are then only good for finding its place. */
  readonly problem?: YamlProblem;
}

/** Collections in one another. More would be of no use, and the parser and the composer recurse with the depth. */
const deepest = 64;

/**
 * `uniqueKeys` is off since it compares every key with every other; the tree builder finds duplicates in linear time.
 */
const options = {
  version: "1.2",
  schema: "core",
  stringKeys: true,
  uniqueKeys: false,
  merge: false,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** Text to YAML nodes, as far as they may occur in frontmatter: one document without directives, not nested too deep. */
export function composeYaml(text: string): ComposedYaml {
  const { tokens, tooDeep } = parseTokens(text);
  const problem = tooDeep ?? findStructureProblem(tokens);
  if (problem !== undefined) return { contents: null, problem };
  const [document] = new Composer(options).compose(tokens, true, text.length);
  const error = document?.errors[0];
  const contents = document?.contents ?? null;
  if (error === undefined) return { contents };
  return { contents, problem: { code: error.code, message: error.message, start: error.pos[0], end: error.pos[1] } };
}

/** The first problem is reported alone. A text in which every piece is one would take seconds. */
const mostErrors = 100;

/**
 * Stops where the nesting gets too deep: what the parser then holds open is the document and the collections in it. Keeps the first
 * error of many.
 */
function parseTokens(text: string): { tokens: CST.Token[]; tooDeep?: YamlProblem } {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) if (token.type !== "error" || ++errors === 1) tokens.push(token);
    if (errors > mostErrors) return { tokens };
    if (parser.stack.length <= deepest + 1) continue;
    const start = Math.max(0, parser.offset - lexeme.length);
    return { tokens, tooDeep: { code: "TOO_DEEP", message: "", start, end: start + lexeme.length } };
  }
  tokens.push(...parser.end());
  return { tokens };
}

function findStructureProblem(tokens: readonly CST.Token[]): YamlProblem | undefined {
  let documents = 0;
  for (const token of tokens) {
    if (token.type === "directive") return { code: "DIRECTIVE", message: token.source, ...rangeOf(token.offset, token.source) };
    if (token.type === "doc-end") return { code: "DOCUMENT_END", message: token.source, ...rangeOf(token.offset, token.source) };
    if (token.type !== "document") continue;
    documents++;
    if (documents > 1) return { code: "DOCUMENT_END", message: "---", ...rangeOf(token.offset, "---") };
  }
  return undefined;
}

function rangeOf(start: number, text: string): { start: number; end: number } {
  return { start, end: start + text.length };
}
