import { parseSync, Visitor } from "oxc-parser";

/** The size of one file: its code, without blank lines and lines that are comments. */
export interface FileSize {
  readonly lines: number;
  readonly characters: number;
}

/** A function with a body, by its name where it has one. */
export interface FunctionSize {
  readonly name: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From the line that it begins in to that of its end, both counted, with comments. */
  readonly lines: number;
}

const isCode = (line: string) => !/^\s*(?:\/\/|\/\*|\*\/|\*\s|\*$|$)/.test(line);

export function sizeOf(text: string): FileSize {
  const code = text.split("\n").filter(isCode);
  return { lines: code.length, characters: code.reduce((sum, line) => sum + line.length + 1, 0) };
}

/** The part of a node of the syntax tree that is read here. */
interface Node {
  readonly start: number;
  readonly end: number;
  readonly id?: { readonly name?: string } | null;
  readonly body?: { readonly start: number; readonly end: number } | null;
}

export function functionsOf(file: string, text: string): readonly FunctionSize[] {
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  const found: FunctionSize[] = [];
  const note = (node: unknown) => {
    const { start, end, id, body } = node as Node;
    if (!body) return;
    const line = lineAt(start);
    found.push({ name: id?.name ?? nameBefore(text, start), file, line, lines: lineAt(end) - line + 1 });
  };
  new Visitor({ FunctionDeclaration: note, FunctionExpression: note, ArrowFunctionExpression: note }).visit(
    parseSync(file, text).program,
  );
  return found;
}

/** The name that a function is given in its line: `const name = `, `name: ` or `name(`, of a method. */
function nameBefore(text: string, start: number): string {
  const before = text.slice(text.lastIndexOf("\n", start) + 1, start);
  return /([#\w]+)\s*(?::[^=]*)?[=:(]?\s*(?:async\s*)?$/.exec(before)?.[1] ?? "(closure)";
}
