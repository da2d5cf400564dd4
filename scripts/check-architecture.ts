// Holds src/ against the import table of ARCHITECTURE.md. The functions are what tests/architecture.test.ts asserts; as a
// command it prints every breach: node scripts/check-architecture.ts
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { init, parse } from "es-module-lexer";
import { blankText } from "./check-text.ts";

/** One row of the table: what a room may take from others. */
export interface Room {
  readonly name: string;
  readonly mayImport: ReadonlyMap<string, Permission>;
  readonly packages: ReadonlyMap<string, Permission>;
}

export interface Permission {
  /** Only type-only imports. */
  readonly typesOnly: boolean;
  /** No static import of a value: the module loads when it is used. */
  readonly lazily: boolean;
  /** The only files that may be imported; empty: any. */
  readonly files: readonly string[];
}

export interface SourceFile {
  /** Below `src/`, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** A path below `src/`, or the specifier of a package as it is written. */
  readonly target: string;
  readonly isLocal: boolean;
  readonly kind: "type" | "value" | "dynamic";
  readonly line: number;
}

/** Reads the one table of a Markdown text whose columns are room, duty, may import, npm packages. */
export function readImportTable(markdown: string): ReadonlyMap<string, Room> {
  const rows = markdown.split("\n").map(cellsOf);
  const head = rows.findIndex((cells) => cells.join("|") === "room|duty|may import|npm packages");
  if (head < 0) throw new Error("there is no table with the columns room, duty, may import, npm packages");
  const rooms = new Map<string, Room>();
  for (const [name = "", , mayImport = "", packages = ""] of rows.slice(head + 2)) {
    if (name === "") break;
    const plain = name.replaceAll("`", "");
    rooms.set(plain, { name: plain, mayImport: readPermissions(mayImport), packages: readPermissions(packages) });
  }
  return rooms;
}

function cellsOf(line: string): string[] {
  return line.startsWith("|")
    ? line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
    : [];
}

/** `protocol, models (types), toolsets (toolset.ts, tool.ts), yaml (lazily)`; `nothing` and `none` are empty. */
function readPermissions(cell: string): ReadonlyMap<string, Permission> {
  const permissions = new Map<string, Permission>();
  for (const [, name = "", remark = ""] of cell.replaceAll("`", "").matchAll(/([^\s,()]+)(?:\s*\(([^)]*)\))?/g)) {
    if (name === "nothing" || name === "none") continue;
    const words = remark.split(/[\s,]+/).filter((word) => word !== "");
    const files = words.filter((word) => word.endsWith(".ts"));
    const unknown = words.filter((word) => !["types", "lazily", ...files].includes(word));
    if (unknown.length > 0) throw new Error(`the table says \`${name} (${remark})\`, and ${unknown.join(", ")} means nothing`);
    permissions.set(name, { typesOnly: words.includes("types"), lazily: words.includes("lazily"), files });
  }
  return permissions;
}

/** The folder below `src/` that a file is in; a file directly in `src/` is a room of its own. */
export function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

export async function readImports({ path, text }: SourceFile): Promise<Import[]> {
  await init;
  const [found] = parse(text);
  return found.flatMap((one): Import[] => {
    if (one.type === "import-meta" || one.specifier === undefined) return [];
    const line = text.slice(0, one.importStart).split("\n").length;
    const isLocal = one.specifier.startsWith(".");
    const target = isLocal ? posix.join(posix.dirname(path), one.specifier) : one.specifier;
    if (one.type === "dynamic") return [{ target, isLocal, line, kind: one.probablyTypeOnly ? "type" : "dynamic" }];
    return [{ target, isLocal, line, kind: one.typeOnly ? "type" : "value" }];
  });
}

/** Modules that compute and touch nothing may be used anywhere. */
const pureBuiltIns = ["node:path", "node:crypto"];
/** Only here may the machine be touched. */
export const edgeRooms = ["cli", "host"];

/** Every import of a file that the table does not allow, in words. */
export async function checkImports(file: SourceFile, rooms: ReadonlyMap<string, Room>): Promise<string[]> {
  const room = rooms.get(roomOf(file.path));
  if (!room) return [`${file.path}: the table has no room \`${roomOf(file.path)}\``];
  const problems: string[] = [];
  for (const one of await readImports(file)) {
    const why = one.isLocal ? refuseRoom(room, one) : refusePackage(room, one);
    if (why !== undefined) problems.push(`${file.path}:${one.line}: ${why}`);
  }
  return problems;
}

function refuseRoom(room: Room, { target, kind }: Import): string | undefined {
  const other = roomOf(target);
  if (other === room.name) return undefined;
  const permission = room.mayImport.get(other);
  if (!permission) return `\`${room.name}\` may not import \`${other}\` (${target})`;
  const file = target.slice(other.length + 1);
  if (permission.files.length > 0 && !permission.files.includes(file))
    return `\`${room.name}\` may import of \`${other}\` only ${permission.files.join(", ")} (${target})`;
  return refuseKind(room, { name: other, permission, kind });
}

function refusePackage(room: Room, { target, kind }: Import): string | undefined {
  if (pureBuiltIns.includes(target)) return undefined;
  if (target.startsWith("node:")) {
    return edgeRooms.includes(room.name)
      ? undefined
      : `\`${target}\` belongs to ${edgeRooms.join(" and ")}, not to \`${room.name}\``;
  }
  const name = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  const permission = room.packages.get(name);
  if (!permission) return `\`${room.name}\` may not use the package ${name}`;
  return refuseKind(room, { name, permission, kind });
}

interface Use {
  readonly name: string;
  readonly permission: Permission;
  readonly kind: Import["kind"];
}

function refuseKind(room: Room, { name, permission, kind }: Use): string | undefined {
  if (permission.typesOnly && kind !== "type") return `\`${room.name}\` may import only types of \`${name}\``;
  if (permission.lazily && kind === "value")
    return `\`${room.name}\` must load \`${name}\` lazily: with import(), where it is used`;
  return undefined;
}

/** The first cycle found in a graph, as the path from a node back to itself. */
export function findCycle(graph: ReadonlyMap<string, Iterable<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, above: readonly string[]): readonly string[] | undefined => {
    if (above.includes(node)) return [...above.slice(above.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...above, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}

const machine = [
  /(?<![\w$.#]|\?\.)(?:globalThis\s*\.\s*)?(process|console|performance|setTimeout|setInterval|setImmediate)\b(?!\s*\??:)/,
  /(?<![\w$.#])(Date\s*\.\s*now|new\s+Date\s*\(\s*\)|Math\s*\.\s*random|random(?:Bytes|UUID|Int)\b|AbortSignal\s*\.\s*timeout)/,
];

/** Uses of the process, the console, the wall clock and randomness, which belong to the edge. */
export function findMachineUses({ path, text }: SourceFile): string[] {
  const lines = blankText(text).split("\n");
  return lines.flatMap((line, index) =>
    machine.flatMap((pattern) => {
      const found = pattern.exec(line)?.[1];
      return found === undefined ? [] : [`${path}:${index + 1}: \`${found}\` belongs to ${edgeRooms.join(" and ")}`];
    }),
  );
}

/** Finds where a member `execute` is called or taken, with its object: `tool.execute`. */
export function findExecuteUses({ path, text }: SourceFile): string[] {
  const code = blankText(text);
  const members = [...code.matchAll(/([\w$)\]]+)\s*(?:\?\.|\.)\s*execute\b/g)].map(([, owner]) => `${path}: ${owner}.execute`);
  const taken = [...code.matchAll(/\b(?:const|let)\s*\{[^{}]*\bexecute\b[^{}]*\}/g)].map(() => `${path}: { execute }`);
  return [...new Set([...members, ...taken])];
}

/** Members called `connect`, or `work` of an effect, wherever they are entered. */
export function findEffectUses({ path, text }: SourceFile): string[] {
  const calls = [...blankText(text).matchAll(/([\w$)\]]+)\s*(?:\?\.|\.)\s*(connect|work)\s*(?:\?\.)?\(/g)];
  return [...new Set(calls.map(([, owner, member]) => `${path}: ${owner}.${member}`))];
}

/** Casts to what only the gate can make. */
export function findForgedGrants({ path, text }: SourceFile): string[] {
  return [
    ...blankText(text).matchAll(/\b(?:as|satisfies)\s+(?:GatedToolset|Granted)\b|<(?:GatedToolset|Granted)\b[^>]*>\s*[({]/g),
  ].map(([found]) => `${path}: ${found}`);
}

/** The product's own files: no tests. */
export function readSources(root: string): SourceFile[] {
  const folder = join(root, "src");
  return globSync("**/*.ts", { cwd: folder })
    .filter((path) => !/\.test(-d)?\.ts$/.test(path))
    .map((path) => ({ path: path.split(sep).join("/"), text: readFileSync(join(folder, path), "utf8") }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function readArchitecture(root: string): ReadonlyMap<string, Room> {
  return readImportTable(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = dirname(import.meta.dirname);
  const rooms = readArchitecture(root);
  const problems = (await Promise.all(readSources(root).map((file) => checkImports(file, rooms)))).flat();
  for (const problem of problems) console.log(problem);
  console.log(`${relative(process.cwd(), root) || "."}: ${problems.length} imports that ARCHITECTURE.md does not allow`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
