type Kind = "comment" | "literal" | "code";

const beforeRegex = /^$|^[^\w$)\]}"]$|^(?:return|typeof|case|in|of|do|else|await|yield|void)$/;

/** Tried in this order at every place; the last one always matches. */
const patterns = {
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  string: /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y,
  regex: /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y,
  /** From the backtick, or the `}` that ends its code, to the closing backtick, or the `${` that opens code. */
  template: /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y,
  code: /[\w$]+|[\s\S]/y,
};

/**
 * The text with comments, strings and regular expressions blanked, so that only code is searched; lines keep their
 * numbers. Code inside a template's `${}` stays. Not a parser: it knows as much of the grammar as that takes.
 */
export function blankText(text: string): string {
  return [...tokensOf(text)].map(([kind, piece]) => (kind === "code" ? piece : piece.replace(/[^\n]/g, " "))).join("");
}

/** The words of all comments, in small letters. Names in backticks are none. */
export function commentWords(text: string): string[] {
  const comments = [...tokensOf(text)].flatMap(([kind, piece]) => (kind === "comment" ? [piece] : []));
  return comments.flatMap(
    (comment) =>
      comment
        .replace(/`[^`]*`/g, "")
        .toLowerCase()
        .match(/[a-z]+/g) ?? [],
  );
}

function* tokensOf(text: string): Generator<readonly [Kind, string]> {
  // The word or sign before tells a division from a regular expression.
  let before = "";
  const braces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const [kind, piece] = nextToken(text, at, { before, closesCode: braces.at(-1) === "${" });
    yield [kind, piece];
    if (kind === "literal") before = '"';
    else if (kind === "code" && piece.trim() !== "") before = piece;
    countBraces(braces, kind, piece);
    at += piece.length;
  }
}

function nextToken(
  text: string,
  at: number,
  { before, closesCode }: { readonly before: string; readonly closesCode: boolean },
): readonly [Kind, string] {
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const comment = take(patterns.comment);
  if (comment !== undefined) return ["comment", comment];
  const isTemplate = text[at] === "`" || (text[at] === "}" && closesCode);
  const isRegex = text[at] === "/" && beforeRegex.test(before);
  const literal = take(patterns.string) ?? (isTemplate ? take(patterns.template) : isRegex ? take(patterns.regex) : undefined);
  return literal === undefined ? ["code", take(patterns.code) ?? text.charAt(at)] : ["literal", literal];
}

function countBraces(braces: string[], kind: Kind, piece: string): void {
  if (kind === "comment") return;
  if (piece.startsWith("}")) braces.pop();
  if (kind === "literal" && /^[`}]/.test(piece) && piece.endsWith("${")) braces.push("${");
  if (kind === "code" && piece === "{") braces.push("{");
}
