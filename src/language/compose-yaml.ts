import { Composer, type CST, type Document, Parser } from "yaml";

/** Why a text is not the YAML that frontmatter may be; offsets count from the start of the text. */
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

/** Collections in one another. More would be of no use, and would make the composer recurse without bound. */
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
  const tokens = [...new Parser().parse(text)];
  const problem = findStructureProblem(tokens);
  if (problem !== undefined) return { contents: null, problem };
  const [document] = new Composer(options).compose(tokens, true, text.length);
  const error = document?.errors[0];
  const contents = document?.contents ?? null;
  if (error === undefined) return { contents };
  return { contents, problem: { code: error.code, message: error.message, start: error.pos[0], end: error.pos[1] } };
}

function findStructureProblem(tokens: readonly CST.Token[]): YamlProblem | undefined {
  let documents = 0;
  for (const token of tokens) {
    if (token.type === "directive") return { code: "DIRECTIVE", message: token.source, ...rangeOf(token, token.source) };
    if (token.type === "doc-end") return { code: "DOCUMENT_END", message: token.source, ...rangeOf(token, token.source) };
    if (token.type !== "document") continue;
    documents++;
    if (documents > 1) return { code: "DOCUMENT_END", message: "---", ...rangeOf(token, "---") };
    const tooDeep = findTooDeep(token);
    if (tooDeep !== undefined) return { code: "TOO_DEEP", message: "", ...rangeOf(tooDeep, " ") };
  }
  return undefined;
}

function rangeOf(token: CST.Token, text: string): { start: number; end: number } {
  const start = "offset" in token ? token.offset : 0;
  return { start, end: start + text.length };
}

/** Walks with a stack of its own: the depth of the text must not become the depth of our calls. */
function findTooDeep(document: CST.Document): CST.Token | undefined {
  const open: { token: CST.Token; depth: number }[] = document.value ? [{ token: document.value, depth: 1 }] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (!("items" in token)) continue;
    if (depth > deepest) return token;
    for (const item of token.items) {
      if (item.key) open.push({ token: item.key, depth: depth + 1 });
      if (item.value) open.push({ token: item.value, depth: depth + 1 });
    }
  }
  return undefined;
}
