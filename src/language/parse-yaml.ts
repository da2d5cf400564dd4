import type { Report } from "../diagnostics/diagnose.ts";
import type { Span } from "../diagnostics/source.ts";
import { buildSyntaxTree } from "./build-syntax-tree.ts";
import { composeYaml } from "./compose-yaml.ts";
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
    if (problem === undefined) return buildSyntaxTree(contents, span, report);
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
