import type { Source, Span } from "../../diagnostics/source.ts";

/** Facts about a module from its text, without running it. */
export interface LexedModule {
  readonly names: ReadonlyMap<string, Span>;
  /** Specifiers of all modules that it loads, by `import`, `export … from`, a literal `import()` or a literal `require()`. */
  readonly imports: readonly string[];
  /** `import()` of something that is computed. */
  readonly computed: readonly Span[];
  /** False if it may export more than `names`. */
  readonly complete: boolean;
  /** True if the text does not say all that it loads: something is computed, or the text cannot be read. */
  readonly isOpaque: boolean;
}

/** Reads TypeScript and JavaScript alike. What a text without `export`, or with `export *`, exports is not known from it. */
export async function lexModule(source: Source): Promise<LexedModule> {
  const { init, parse } = await import("es-module-lexer");
  await init;
  try {
    const [imports, exports] = parse(source.text);
    const values = exports.filter(({ typeOnly }) => !typeOnly);
    const named = values.flatMap((one) => (one.type === "reexport-all" ? [] : [one]));
    const types = imports.filter((one) => "typeOnly" in one && one.typeOnly);
    const loads = imports.filter((one) => one.type !== "import-meta" && !types.includes(one));
    const computed = loads.filter((one) => isComputed(one));
    const literal = loads.flatMap((one) => (isComputed(one) ? [] : [one.specifier ?? ""]));
    return {
      names: new Map(named.map(({ name, start, end }) => [name, { source, start, end }])),
      imports: [...new Set([...literal, ...requiredBy(source.text), ...modulesIn(without(source.text, types))])],
      computed: computed.map(({ start, end }) => ({ source, start, end })),
      complete: named.length === values.length && values.length > 0,
      isOpaque: computed.length > 0 || computedRequire.test(source.text),
    };
  } catch {
    return { names: new Map(), imports: namesIn(source.text), computed: [], complete: false, isOpaque: true };
  }
}

function without(text: string, parts: readonly { readonly start: number; readonly end: number }[]): string {
  return parts.toReversed().reduce((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
}

type Loading = { readonly specifier?: string | null | undefined; readonly type: string; readonly glob?: boolean };

function isComputed({ type, specifier, glob = false }: Loading): boolean {
  return type === "dynamic" && (specifier === undefined || glob);
}

const computedRequire = /(?<![\w$.])require\s*\(\s*(?!\s|(["'`])[^"'`\n$]*\1\s*\))/;

/** The lexer knows modules only. A comment or a text that looks like a call is taken for one. */
function requiredBy(text: string): string[] {
  const others = [...text.matchAll(/([\w$]+)\s*=\s*(?:[\w$]+\.)?createRequire\s*\(/g)].map(([, name = ""]) => name);
  const names = ["require(?:\\.resolve)?", "import\\.meta\\.resolve", ...others.map((name) => name.replaceAll("$", "\\$"))];
  const call = new RegExp(`(?<![\\w$])(?:${names.join("|")})\\s*\\(\\s*(["'\`])([^"'\`\\n$]+)\\1\\s*\\)`, "g");
  return [...text.matchAll(call)].map(([, , specifier = ""]) => specifier);
}

/** Relative paths of modules wherever they stand: a thread is started by one, and `import()` gets one from a variable. */
function modulesIn(text: string): string[] {
  const named = [...text.matchAll(/\bnew\s+URL\s*\(\s*(["'`])([\w.@~/-]+)\1\s*,\s*import\.meta\.url\b/g)];
  const located = named.map(([, , path = ""]) => (/^\.{0,2}\//.test(path) ? path : `./${path}`));
  return [...located, ...pathsIn(text)].filter((path) => /\.(?:[cm]?[jt]s|node|wasm)(?:[?#]|$)/.test(path));
}

/** All that looks like the name of a module, for a text that the lexer cannot read. */
function namesIn(text: string): string[] {
  const named = [...text.matchAll(/\b(?:from|import)\s*\(?\s*(["'`])([^"'`\n$]+)\1/g)].map(([, , name = ""]) => name);
  return [...new Set([...pathsIn(text), ...named, ...requiredBy(text)])];
}

/** All that looks like a relative path. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/(["'`])(\.{1,2}\/[^"'`\n$]+)\1/g)].map(([, , path = ""]) => path);
}
