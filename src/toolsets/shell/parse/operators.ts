/** Operators that a gap between words and redirections may hold. */
export type Operator = "&&" | "||" | "|" | "|&" | "(" | ")" | "{" | "}" | "!" | "time" | "-p" | "--";

export interface Span {
  readonly pos: number;
  readonly end: number;
}

const operators: readonly Operator[] = ["&&", "||", "|&", "|", "(", ")", "{", "}", "!", "time", "-p", "--"];

/**
 * True if the text holds, besides the words and redirections of the tree, just its operators, blanks and comments: text that a
 * parser passed over in silence has not been judged.
 */
export function accountsForAll(source: string, spans: readonly Span[], expected: readonly Operator[]): boolean {
  const found: string[] = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.pos - b.pos)) {
    if (span.pos < at || !readGap(source.slice(at, span.pos), found)) return false;
    at = span.end;
  }
  return readGap(source.slice(at), found) && found.join(" ") === expected.join(" ");
}

function readGap(gap: string, found: string[]): boolean {
  let at = 0;
  while (at < gap.length) {
    const blank = blankAt(gap, at);
    const operator = blank === 0 ? operators.find((one) => gap.startsWith(one, at)) : undefined;
    if (blank === 0 && operator === undefined) return false;
    if (operator !== undefined) found.push(operator);
    at += operator?.length ?? blank;
  }
  return true;
}

/** Length of the blank that begins here, or 0. */
function blankAt(gap: string, at: number): number {
  if (" \t\n;".includes(gap.charAt(at))) return 1;
  if (gap.startsWith("\\\n", at)) return 2;
  if (gap[at] !== "#") return 0;
  const end = gap.indexOf("\n", at);
  return (end === -1 ? gap.length : end) - at;
}
