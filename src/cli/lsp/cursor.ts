import { splitSource } from "../../language/split-source.ts";

/** A place in a document, where something can be named. Its `prefix` is what stands between `start` and the cursor. */
export type Cursor = { readonly start: number; readonly prefix: string } & (
  | { readonly kind: "key" | "value"; readonly path: readonly string[] }
  /** Inside `{{ }}` or `{% %}`. */
  | { readonly kind: "variable" }
  /** Inside the quotes of `{% render "" %}`. */
  | { readonly kind: "file" }
);

export type DocumentKind = "worker" | "manifest" | "template";

/** Finds what the cursor is at. Undefined in prose, comments and fences: nothing is offered there. */
export function findCursor(text: string, offset: number, kind: DocumentKind): Cursor | undefined {
  if (kind === "template") return findInTemplate(text, 0, offset);
  const { start, end } = kind === "manifest" ? { start: 0, end: text.length } : frontmatterOf(text);
  if (offset < start) return undefined;
  return offset <= end ? findInYaml(text, start, offset) : findInTemplate(text, end, offset);
}

/** Moves an offset to the end of the word that it is in. */
export function endOfWord(text: string, offset: number): number {
  return offset + (/^[\w.@:/*-]*?(?=:?(?:[^\w.@:/*-]|$))/.exec(text.slice(offset, offset + 200))?.[0].length ?? 0);
}

/** While the closing fence is not written yet, the whole rest is frontmatter. */
function frontmatterOf(text: string): { readonly start: number; readonly end: number } {
  const parts = splitSource({ name: "", text }, () => undefined);
  if (parts) return parts.frontmatter;
  return { start: /^\uFEFF?---[ \t]*\r?\n/.exec(text)?.[0].length ?? text.length + 1, end: text.length };
}

function findInTemplate(text: string, from: number, offset: number): Cursor | undefined {
  const open = Math.max(text.lastIndexOf("{{", offset - 2), text.lastIndexOf("{%", offset - 2));
  if (open < from) return undefined;
  const written = text.slice(open, offset);
  if (/[%}]\}/.test(written)) return undefined;
  const [, file] = /^\{%-?\s*render\s+["']([^"'\n]*)$/.exec(written) ?? [];
  if (file !== undefined) return { kind: "file", prefix: file, start: offset - file.length };
  if (/["'][^"']*$/.test(written.replace(/(["'])[^"']*\1/g, "")) || /\|\s*\w*$/.test(written)) return undefined;
  const prefix = /[\w.-]*$/.exec(written)?.[0] ?? "";
  return { kind: "variable", prefix, start: offset - prefix.length };
}

/** Reads the line up to the cursor; the lines above say under which keys it stands. */
function findInYaml(text: string, from: number, offset: number): Cursor | undefined {
  const lineStart = Math.max(from, text.lastIndexOf("\n", offset - 1) + 1);
  const line = text.slice(lineStart, offset);
  const [margin = "", dash] = /^\s*(- +|-$)?/.exec(line) ?? [];
  const item = dash !== undefined;
  const parents = findParents(text.slice(from, lineStart), { column: item ? margin.indexOf("-") : margin.length, item });
  const isValue = item && !/^[\w"'.-]+:(\s|$)/.test(line.slice(margin.length));
  const scan = new LineScan({ bracket: isValue ? "[" : "{", path: parents });
  for (let at = margin.length; at < line.length; at++) scan.step(line, at);
  const { bracket, path } = scan.level;
  const prefix = scan.token.trimStart().replace(/^["']/, "");
  const place = { prefix, start: offset - prefix.length };
  if (scan.isComment) return undefined;
  if (bracket === "{" && scan.key === undefined) return { kind: "key", path, ...place };
  return { kind: "value", path: scan.path, ...place };
}

interface Level {
  readonly bracket: "{" | "[";
  readonly path: readonly string[];
}

/** Follows a line of YAML, with the flow collections in it. */
class LineScan {
  key: string | undefined;
  token = "";
  isComment = false;
  readonly #levels: Level[] = [];
  readonly #block: Level;

  constructor(block: Level) {
    this.#block = block;
  }

  get level(): Level {
    return this.#levels.at(-1) ?? this.#block;
  }

  get path(): readonly string[] {
    const { path } = this.level;
    return this.key === undefined ? path : [...path, this.key];
  }

  step(line: string, at: number): void {
    const character = line.charAt(at);
    const isFlow = this.#levels.length > 0;
    if (character === "#" && /\s$/.test(this.token)) this.isComment = true;
    else if (this.token.trim() === "" && (character === "{" || character === "[")) {
      this.#levels.push({ bracket: character, path: this.path });
      this.#begin(undefined);
    } else if (isFlow && (character === "}" || character === "]")) {
      this.#levels.pop();
      this.token = "";
    } else if (isFlow && character === ",") this.#begin(undefined);
    else if (this.#isAfterKey(character, line.charAt(at + 1))) this.#begin(this.token.trim().replace(/^["']|["']$/g, ""));
    else this.token += character;
  }

  #isAfterKey(character: string, next: string): boolean {
    return character === ":" && this.level.bracket === "{" && this.key === undefined && next.trim() === "";
  }

  #begin(key: string | undefined): void {
    this.key = key;
    this.token = "";
  }
}

/** The keys above a line, from the outermost. A list item can stand at the column of its key. */
function findParents(above: string, { column, item }: { readonly column: number; readonly item: boolean }): readonly string[] {
  const parents: string[] = [];
  let [most, isItem] = [column, item];
  for (const line of above.split("\n").reverse()) {
    const [, margin = "", dash, key] = /^(\s*)(- +)?("[^"]*"|'[^']*'|[^\s#{["'-][^:#]*?)\s*:(?:\s|$)/.exec(line) ?? [];
    if (key === undefined) continue;
    const at = margin.length + (dash?.length ?? 0);
    if (at > most || (at === most && !(isItem && dash === undefined))) continue;
    parents.unshift(key.replace(/^["']|["']$/g, ""));
    [most, isItem] = dash === undefined ? [at, false] : [margin.length, true];
  }
  return parents;
}
