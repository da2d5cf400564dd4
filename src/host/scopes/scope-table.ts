import { basename, join, relative, sep } from "node:path";
import { getOrMake } from "../../util/get-or-make.ts";
import { isWithin } from "../../util/within.ts";
import type { RootDirectory } from "../files/directory.ts";
import type { Writer } from "../files/temporary-name.ts";
import type { ReplacementListener } from "../host.ts";
import { isPrivatePath } from "../own-files/private-folders.ts";
import { foldName, isCodeName, isProgramName, isReadProtected, protectionOfName } from "./protected-names.ts";
import { type Allowed, describeScope, privateRoot } from "./scope-refusals.ts";
import { type Protection, type ResolvedPath, type ScopeDeclaration, ScopeError } from "./scopes.ts";
import { formatVirtualPath, resolveVirtualPath } from "./virtual-path.ts";

/** A declared scope, and its place: a host path without links. */
export interface PlacedRoot {
  readonly declaration: ScopeDeclaration;
  readonly realPath: string;
}

/** A declared scope, open. */
export interface ScopeRoot extends PlacedRoot {
  readonly directory: RootDirectory;
  /** Closes the directory where no other scopes use it. */
  release(): Promise<void>;
}

export interface ScopePathsOptions<Root extends PlacedRoot = PlacedRoot> {
  readonly roots: readonly Root[];
  readonly program: ProgramPlaces;
  readonly strictNames: boolean;
}

export interface ScopeTableOptions extends ScopePathsOptions<ScopeRoot> {
  readonly privatePlaces: PrivatePlaces;
  readonly writer: Writer;
  readonly beforeReplacing: ReplacementListener | undefined;
}

/** The places of a program. */
export interface ProgramPlaces {
  readonly programFolder: string | undefined;
  readonly programFiles: ReadonlySet<string>;
  /** The folders on the way to them. */
  readonly programParents: ReadonlySet<string>;
  /** Folders below which all names that can be code are the program's. */
  readonly codeFolders: ReadonlySet<string>;
}

export interface PrivatePlaces {
  /** Real host paths. */
  readonly privateFolders: readonly string[];
  readonly privateNames: ReadonlySet<string>;
}

/** The places beside scopes that have no roots. */
export const nowhere: ProgramPlaces & PrivatePlaces = {
  programFolder: undefined,
  programFiles: new Set(),
  programParents: new Set(),
  codeFolders: new Set(),
  privateFolders: [],
  privateNames: new Set(),
};

/**
 * `files`: real host paths of what is part of the program, existing or not, with all that is below them. `roots`: folders of its
 * scopes, which no link must replace.
 */
export function createProgramPlaces(
  files: readonly string[],
  programFolder: string | undefined,
  { codeFolders, roots }: Readonly<Record<"codeFolders" | "roots", readonly string[]>>,
): ProgramPlaces {
  const programFiles = new Set(files.map(foldPath));
  const parents = [...programFiles].flatMap((path) => [...above(path)].slice(1));
  const programParents = new Set([...parents, ...roots.flatMap((path) => [...above(foldPath(path))])]);
  return { programFolder, programFiles, programParents, codeFolders: new Set(codeFolders.map(foldPath)) };
}

/** Throws if the root of a scope is a private folder, or lies in one. */
export function assertNotPrivate({ name }: ScopeDeclaration, realPath: string, { privateFolders }: PrivatePlaces): void {
  if (isPrivatePath(realPath, privateFolders)) throw privateRoot(name);
}

export function createPrivatePlaces(privateFolders: readonly string[]): PrivatePlaces {
  const isSame = lastPlaces.privateFolders.length === privateFolders.length;
  if (isSame && lastPlaces.privateFolders.every((path, index) => path === privateFolders[index])) return lastPlaces;
  lastPlaces = { privateFolders, privateNames: new Set(privateFolders.map((path) => foldName(basename(path)))) };
  return lastPlaces;
}

/** Those of one user, mostly: the same for all runs of a process. */
let lastPlaces: PrivatePlaces = nowhere;

/** A run's scopes, as far as they can be judged without touching the disk: names, nesting, and files of the program. */
export class ScopePaths<Root extends PlacedRoot = PlacedRoot> {
  readonly roots: readonly Root[];
  readonly allowed: Allowed;
  readonly #declarations: ReadonlyMap<string, ScopeDeclaration>;
  readonly #byName: ReadonlyMap<string, Root>;
  readonly #byHostPath: ReadonlyMap<string, Root>;
  readonly #rootNames: ReadonlySet<string>;
  readonly #programNames = new Map<string, ProgramNames>();
  readonly program: ProgramPlaces;
  protected readonly strictNames: boolean;

  constructor(options: ScopePathsOptions<Root>) {
    this.roots = options.roots;
    this.strictNames = options.strictNames;
    this.program = options.program;
    const declarations = options.roots.map((root) => root.declaration);
    this.allowed = {
      readable: declarations.map((declaration) => declaration.name),
      writable: declarations.filter((declaration) => declaration.mode === "rw").map((declaration) => declaration.name),
    };
    this.#declarations = new Map(declarations.map((declaration) => [declaration.name, declaration]));
    this.#byName = new Map(options.roots.map((root) => [root.declaration.name, root]));
    this.#byHostPath = new Map(options.roots.map((root) => [root.realPath, root]));
    this.#rootNames = new Set(options.roots.map((root) => basename(root.realPath)));
  }

  resolve(virtualPath: string): ResolvedPath {
    const { allowed } = this;
    return resolveVirtualPath(virtualPath, { scopes: this.#declarations, allowed, strictNames: this.strictNames });
  }

  format(scope: ScopeDeclaration, components: readonly string[]): string {
    return formatVirtualPath(scope.name, components, this.#declarations);
  }

  root(scope: ScopeDeclaration): Root {
    const root = this.#byName.get(scope.name);
    if (root === undefined) throw new Error(`no scope is named ${scope.name}`);
    return root;
  }

  /** The scope whose root has its place at this path. */
  rootAt(scope: ScopeDeclaration, components: readonly string[]): Root | undefined {
    // A walk asks this for each folder, too.
    if (!this.#rootNames.has(components.at(-1) ?? "")) return undefined;
    return this.#byHostPath.get(this.hostPath(scope, components));
  }

  /** The deepest root that a host path lies in. */
  rootAround(hostPath: string): Root | undefined {
    const around = this.roots.filter(({ realPath }) => isWithin(hostPath, realPath));
    return around.sort((a, b) => b.realPath.length - a.realPath.length)[0];
  }

  /** The scopes that hold files at or below a path: the deepest that it lies in, and those nested further down. */
  covered(scope: ScopeDeclaration, components: readonly string[]): readonly ScopeDeclaration[] {
    const base = this.hostPath(scope, components);
    const prefixes = components.map((_, index) => this.rootAt(scope, components.slice(0, index + 1)));
    const deepest = prefixes.findLast((root) => root !== undefined)?.declaration ?? scope;
    const below = this.roots.filter((root) => isBelow(root.realPath, base)).map((root) => root.declaration);
    return [deepest, ...below];
  }

  protection(scope: ScopeDeclaration, components: readonly string[]): Protection | undefined {
    const ofName = protectionOfName([...this.#namesAbove(scope), ...components]);
    return this.#isProgram(scope, components, ofName === "ask-read-and-write") ? "program" : ofName;
  }

  /** Returns whether a name on the way to a path, or its last one, is one that asks before it is read. */
  asksToRead(scope: ScopeDeclaration, components: readonly string[]): boolean {
    return [...this.#namesAbove(scope), ...components].some(isReadProtected);
  }

  /** The names between the program's folder and a root in it: a root in `.git` stays protected, unless the user chose it. */
  #namesAbove(scope: ScopeDeclaration): readonly string[] {
    const { programFolder } = this.program;
    const { realPath } = this.root(scope);
    if (programFolder === undefined || scope.isChosen === true || !isBelow(realPath, programFolder)) return [];
    return relative(programFolder, realPath).split(sep);
  }

  /** Names that some file system takes for the same are the same here. */
  target({ scope, components }: ResolvedPath): string {
    return `file:/${this.hostPath(scope, components).split(sep).map(foldName).join("/")}`;
  }

  /** Returns whether a link of this name would redirect the paths of program files. Pure. */
  leadsToProgram(scope: ScopeDeclaration, components: readonly string[]): boolean {
    return this.program.programParents.has(foldPath(this.hostPath(scope, components)));
  }

  /** `asks`: a name on the way asks before it is read, which holds in folders of the program, too. */
  #isProgram(scope: ScopeDeclaration, components: readonly string[], asks: boolean): boolean {
    if (!this.#canBeProgram(scope, components)) return false;
    const hostPath = this.hostPath(scope, components);
    const folded = foldPath(hostPath);
    const isCode = this.#canBeCode(components);
    for (const path of above(folded))
      if ((this.program.programFiles.has(path) && !(asks && path !== folded)) || (isCode && this.program.codeFolders.has(path)))
        return true;
    const folder = this.program.programFolder;
    if (folder === undefined || !isBelow(folded, foldPath(folder))) return false;
    const inProgram = relative(folder, hostPath).split(sep);
    return isProgramName(components.at(-1) ?? "") || (foldName(inProgram[0] ?? "") === "tools" && isIndex(inProgram[1]));
  }

  #canBeCode(components: readonly string[]): boolean {
    return this.program.codeFolders.size > 0 && isCodeName(components.at(-1) ?? "");
  }

  /** Names alone rule most paths out: a walk asks for each, and to fold the whole of one takes half the time of a walk. */
  #canBeProgram(scope: ScopeDeclaration, components: readonly string[]): boolean {
    const { first, isInTools } = getOrMake(this.#programNames, scope.name, () => {
      return findProgramNames(this.root(scope).realPath, this.program.programFiles);
    });
    const [name, last] = [components[0], components.at(-1)];
    if (this.#canBeCode(components)) return true;
    if (first === "any" || (name !== undefined && first.has(firstOf(foldName(name))))) return true;
    return isInTools || (last !== undefined && isProgramName(last)) || components.some(isIndex);
  }

  /** Without links, because none is ever followed below a root. */
  protected hostPath(scope: ScopeDeclaration, components: readonly string[]): string {
    return join(this.root(scope).realPath, ...components);
  }
}

/** Open scopes, whose roots passed the checks: no two are one folder. */
export class ScopeTable extends ScopePaths<ScopeRoot> {
  readonly writer: Writer;
  readonly beforeReplacing: ReplacementListener | undefined;
  readonly #privatePlaces: PrivatePlaces;
  readonly #byIdentity = new Map<string, ScopeRoot>();
  readonly #written = new Set<string>();

  constructor(options: ScopeTableOptions) {
    super(options);
    this.writer = options.writer;
    this.beforeReplacing = options.beforeReplacing;
    this.#privatePlaces = options.privatePlaces;
    for (const root of options.roots) this.#add(root);
  }

  /** A table of other scopes, on the same machine. */
  withRoots(roots: readonly ScopeRoot[], program: ProgramPlaces): ScopeTable {
    const { writer, strictNames } = this;
    return new ScopeTable({
      roots,
      program,
      privatePlaces: this.#privatePlaces,
      writer,
      strictNames,
      beforeReplacing: undefined,
    });
  }

  rootWithIdentity(identity: string): ScopeRoot | undefined {
    return this.#byIdentity.get(identity);
  }

  /** Returns whether a path is a folder that nothing reaches through a scope. */
  isPrivate(scope: ScopeDeclaration, components: readonly string[]): boolean {
    // A walk asks this for each folder: most are ruled out by their name.
    return (
      this.#privatePlaces.privateNames.has(foldName(components.at(-1) ?? "")) &&
      isPrivatePath(this.hostPath(scope, components), this.#privatePlaces.privateFolders)
    );
  }

  /** Returns true once for each directory: a search for left-over temporaries reads all its names. */
  isFirstWriteIn(directoryIdentity: string): boolean {
    if (this.#written.has(directoryIdentity)) return false;
    this.#written.add(directoryIdentity);
    return true;
  }

  #add(root: ScopeRoot): void {
    const twin = this.#byIdentity.get(root.directory.identity);
    if (twin !== undefined) {
      const names = [twin, root].map((one) => describeScope(one.declaration.name)).join(" and ");
      throw new ScopeError("invalid_path", `${names} are the same folder, so nothing says whose rights hold in it.`, {
        hint: "Declare it once, or give each of them a folder of its own.",
      });
    }
    this.#byIdentity.set(root.directory.identity, root);
  }
}

/** The names below a root at which paths of program files begin; folded. */
interface ProgramNames {
  readonly first: ReadonlySet<string> | "any";
  /** True if a folder on the way to the root has the name of a module of tools. */
  readonly isInTools: boolean;
}

function findProgramNames(root: string, programFiles: ReadonlySet<string>): ProgramNames {
  const folded = foldPath(root);
  const isInTools = root.split(sep).some(isIndex);
  if ([...above(folded)].some((path) => programFiles.has(path))) return { first: "any", isInTools };
  const start = folded.endsWith(sep) ? folded : folded + sep;
  const below = [...programFiles].filter((path) => path.startsWith(start));
  return { first: new Set(below.map((path) => firstOf(path.slice(start.length)))), isInTools };
}

/** A folded name can hold what separates names. */
function firstOf(path: string): string {
  return path.split(sep, 1)[0] ?? "";
}

function isIndex(name: string | undefined): boolean {
  return name !== undefined && !cannotBeIndex.test(name) && /^index\.[cm]?[jt]s$/.test(foldName(name));
}

/** Names in ASCII with another first letter: to fold them takes longer. */
const cannotBeIndex = /^[!-HJ-hj-~][ -~]*$/;

/** A path and the folders that it lies in, the deepest first; without the root of the file system. */
function* above(path: string): Generator<string> {
  for (let end = path.length; end > 0; end = path.lastIndexOf(sep, end - 1)) yield path.slice(0, end);
}

function foldPath(path: string): string {
  return path.split(sep).map(foldName).join(sep);
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isWithin(path, folder);
}
