import type { Source, Span } from "../diagnostics/source.ts";

/** What the text of a module says without running it. */
export interface LexedModule {
  readonly names: ReadonlyMap<string, Span>;
  /** Specifiers of all modules that it loads, by `import`, `export … from`, a literal `import()` or a literal `require()`. */
  readonly imports: readonly string[];
  /** `import()` of something that is computed. */
  readonly computed: readonly Span[];
  /** False where it may export more than `names`. */
  readonly complete: boolean;
}

/** Reads TypeScript and JavaScript alike. What a text without `export`, or with `export *`, exports is not known from it. */
export async function lexModule(source: Source): Promise<LexedModule> {
  const { init, parse } = await import("es-module-lexer");
  await init;
  try {
    const [imports, exports] = parse(source.text);
    const values = exports.filter(({ typeOnly }) => !typeOnly);
    const named = values.flatMap((one) => (one.type === "reexport-all" ? [] : [one]));
    const loads = imports.filter((one) => one.type !== "import-meta" && !("typeOnly" in one && one.typeOnly));
    const computed = loads.filter((one) => isComputed(one));
    const literal = loads.flatMap((one) => (isComputed(one) ? [] : [one.specifier ?? ""]));
    return {
      names: new Map(named.map(({ name, start, end }) => [name, { source, start, end }])),
      imports: [...new Set([...literal, ...requiredBy(source.text)])],
      computed: computed.map(({ start, end }) => ({ source, start, end })),
      complete: named.length === values.length && values.length > 0,
    };
  } catch {
    return { names: new Map(), imports: pathsIn(source.text), computed: [], complete: false };
  }
}

type Loading = { readonly specifier?: string | null | undefined; readonly type: string; readonly glob?: boolean };

function isComputed({ type, specifier, glob = false }: Loading): boolean {
  return type === "dynamic" && (specifier === undefined || glob);
}

/** The lexer knows modules only. A comment or a text that looks like a call is taken for one. */
function requiredBy(text: string): string[] {
  return [...text.matchAll(/\brequire\s*\(\s*(["'`])([^"'`\n$]+)\1\s*\)/g)].map(([, , specifier = ""]) => specifier);
}

/** Of a text that the lexer cannot read: all that looks like a relative path. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/(["'`])(\.{1,2}\/[^"'`\n$]+)\1/g)].map(([, , path = ""]) => path);
}
