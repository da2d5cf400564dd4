// Prepares large chunks to be loaded with compiled code that was kept: `src/host/load-chunk.ts` runs them as scripts, since Node gives a
// module no such code but from its own cache, which holds no function that was compiled when it was called. Each gets a file in
// dist/kept/ with the same exports. `#chunks/` of package.json means that file for Node, and the module itself for bundlers.
import type { OutputChunk, RolldownPlugin } from "rolldown";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** Characters from which on a chunk is kept: a second file costs more than a smaller one takes to compile. */
const least = 20_000;

export const keptChunks: RolldownPlugin = {
  name: "kept-chunks",
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((one) => one.type === "chunk");
    const kept = chunks.filter(({ fileName, code }) => fileName.startsWith("chunks/") && code.length >= least);
    const names = new Set(kept.map(fileOf));
    for (const chunk of chunks) chunk.code = nameKept(chunk.code, names);
    for (const chunk of kept) this.emitFile({ type: "asset", fileName: `kept/${fileOf(chunk)}`, source: prepare(chunk) });
  },
};

function fileOf({ fileName }: OutputChunk): string {
  return fileName.slice("chunks/".length);
}

/** Writes `#chunks/name.js` for the paths of kept chunks. */
function nameKept(code: string, names: ReadonlySet<string>): string {
  return code.replace(
    /(\b(?:from|import) ?\(?)"\.{1,2}\/(?:\.\.\/)*(?:chunks\/)?([\w.-]+\.js)"/g,
    (whole, before: string, name: string) => (names.has(name) ? `${before}"#chunks/${name}"` : whole),
  );
}

/**
 * Moves the imports of a chunk to its beginning, on its first line, so that all others stay true to its source map. Returns the text of the
 * file that loads it.
 */
function prepare(chunk: OutputChunk): string {
  const { program } = parseSync("chunk.js", chunk.code);
  const end = program.body.find(({ type }) => type.startsWith("Export"))?.start ?? chunk.code.length;
  if (program.body.some(({ type, start }) => start > end && !type.startsWith("Export")))
    throw new Error(`${chunk.fileName} goes on after its exports`);
  const locals: string[] = [];
  const exports: [name: string, local: string][] = [];
  let imports = "";
  let body = chunk.code.slice(0, end);
  for (const node of program.body.toReversed()) {
    const text = chunk.code.slice(node.start, node.end);
    if (node.type === "ImportDeclaration") {
      locals.push(...node.specifiers.map(({ local }) => local.name));
      imports = `${text} ${imports}`;
      body = body.slice(0, node.start) + body.slice(node.end);
    } else if (node.type === "ExportDefaultDeclaration") exports.push(["default", text.slice("export default ".length, -1)]);
    else if (node.type === "ExportNamedDeclaration" && !node.source && !node.declaration)
      for (const { exported, local } of node.specifiers) exports.push([nameOf(exported), nameOf(local)]);
    // The values of exports are read once.
    else if (
      node.type.startsWith("Export") ||
      (node.type === "VariableDeclaration" && node.kind === "let" && isExported(node, exports))
    )
      throw new Error(`${chunk.fileName} cannot export ${text.slice(0, 60)}`);
  }
  chunk.code = imports + body + chunk.code.slice(end);
  const layout = {
    body: [imports.length, imports.length + body.length],
    dynamic: findDynamic(chunk.code),
    imports: locals,
    exports: exports.map(([name, local]) => `${name}:${local}`).join(),
  };
  // Names with a prefix, since those of the imports are used.
  const names = exports.map(([name], index) => [name, `kept_${index}`]);
  return `${imports.replaceAll('"./', '"../chunks/')}
import { loadChunk as kept_load } from "../host/load-chunk.js";
const kept_import = (path, options) => import(path.replace(/^\\.\\/(?=[\\w.-]+$)/, "../chunks/"), options);
kept_import.meta = import.meta;
const kept_all = kept_load(kept_import, ${JSON.stringify(layout)}, [${locals.join(", ")}]);
const { ${names.map(([name, local]) => `${name}: ${local}`).join(", ")} } = kept_all;
export { ${names.map(([name, local]) => `${local} as ${name}`).join(", ")} };
`;
}

function isExported(
  { declarations }: ESTree.VariableDeclaration,
  exports: readonly (readonly [name: string, local: string])[],
): boolean {
  return declarations.some(({ id }) => id.type === "Identifier" && exports.some(([, local]) => local === id.name));
}

/** Offsets of `import()` and `import.meta`. */
function findDynamic(code: string): readonly number[] {
  const found: number[] = [];
  new Visitor({
    ImportExpression: ({ start }) => void found.push(start),
    MetaProperty: ({ start, meta }) => void (meta.name === "import" && found.push(start)),
  }).visit(parseSync("chunk.js", code).program);
  return found.sort((a, b) => a - b);
}

function nameOf(name: { readonly type: string; readonly name?: string }): string {
  if (name.type !== "Identifier" || name.name === undefined) throw new Error("an export has a name that is no identifier");
  return name.name;
}
