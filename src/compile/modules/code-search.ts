import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Source, Span } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import { isRecord } from "../../protocol/json.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { isCodePath } from "../home.ts";
import { lexModule } from "./lex-module.ts";
import { exportedFiles, importedTargets, readDescription, splitSpecifier } from "./packages.ts";

export interface CodeSearchOptions {
  readonly host: Pick<Host, "files" | "homeDirectory">;
  /** The text of a module, undefined if it cannot be read. */
  readonly read: (path: string) => Promise<Source | undefined>;
}

export interface ReachedPackage {
  readonly name: string;
  /** Undefined if its `package.json` has none. */
  readonly version: string | undefined;
}

type Description = Readonly<Record<string, unknown>>;

/**
 * Finds what runs when a module is imported, by its text alone: the modules that it names, directly or through others, and the
 * packages that these come from. Packages in a `node_modules` folder are not read; what they depend on is taken from their
 * `package.json`. A package that is linked from elsewhere is followed like the program's own modules.
 */
export class CodeSearch {
  /** Real paths of modules that run, those inside of `node_modules` left out unless they were asked for. */
  readonly modules = new Set<string>();
  /** By real path. */
  readonly packages = new Map<string, ReachedPackage>();
  /**
   * Absolute paths, existing or not, at which Node would look for this code: what is written there, or below, would run. `lib/x.js`
   * counts where `lib/x.ts` is there, because it would come first.
   */
  readonly places = new Set<string>();
  /** `import()` of something that is computed, by the module's real path. */
  readonly computed = new Map<string, readonly Span[]>();
  /** Real paths of modules whose text does not say all that they load. */
  readonly opaque = new Set<string>();
  readonly #options: CodeSearchOptions;
  readonly #folders = new Set<string>();
  readonly #packageFolders = new Set<string>();
  readonly #hasPackages = new Map<string, Promise<boolean>>();

  constructor(options: CodeSearchOptions) {
    this.#options = options;
  }

  /**
   * Follows modules, and all that they import. Adds to what was found before. `asCommands`: a path can be a folder, and lack its suffix, as
   * in a command line of Node.
   */
  async follow(paths: Iterable<string>, { asCommands = false } = {}): Promise<void> {
    const done = new Set(this.modules);
    const { homeDirectory } = this.#options.host;
    for (const path of paths) await (asCommands ? this.#addFile(path) : this.#addModule(path));
    for (const module of this.modules) if (!done.has(module)) await this.#followModule(module);
    // `require()` looks here last.
    const last = this.modules.size === 0 ? [] : [".node_modules", ".node_libraries"];
    for (const name of last) this.places.add(join(homeDirectory, name));
  }

  /** Counts the places where packages are looked for from a folder. */
  async addFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return;
    this.#folders.add(folder);
    for (const above of foldersAbove(folder)) this.places.add(join(above, "node_modules"));
    for (const above of foldersAbove(folder)) {
      const description = join(above, "package.json");
      this.places.add(description);
      if ((await this.#options.host.files.kind(description)) === "file") break;
    }
  }

  async #addModule(path: string): Promise<void> {
    this.places.add(path);
    this.modules.add(await this.#realPath(path));
  }

  async #followModule(module: string): Promise<void> {
    await this.addFolder(dirname(module));
    if (isInstalled(module)) return this.#addPackageAt(await this.#packageFolder(module));
    const source = isCodePath(module) ? await this.#options.read(module) : undefined;
    if (source === undefined) return;
    const { imports, computed, isOpaque } = await lexModule(source);
    if (isOpaque) this.opaque.add(module);
    if (computed.length > 0) this.computed.set(module, computed);
    for (const specifier of imports) await this.#addImport(specifier, dirname(module));
  }

  async #addImport(specifier: string, folder: string): Promise<void> {
    if (ownPackages.test(specifier) || /^(?!file:)[a-z]+:/.test(specifier)) return;
    const path = pathOf(specifier, folder);
    if (path !== undefined) return this.#addFile(path);
    const home = await this.#packageFolder(join(folder, "module.js"));
    const description = home === undefined ? undefined : await readDescription(this.#options.host, home);
    const isOwn = (name: string) => description?.["name"] === name && "exports" in description;
    if (specifier.startsWith("#")) return this.#addMapped(importedTargets(description ?? {}, specifier), home);
    const { name, subpath } = splitSpecifier(specifier);
    if (isOwn(name)) return this.#addMapped(exportedFiles(description ?? {}, subpath) ?? [], home);
    await this.#addPackage(name, folder, subpath);
  }

  /** Follows the targets of `imports` or `exports` of a `package.json`. */
  async #addMapped(targets: readonly string[], home: string | undefined): Promise<void> {
    if (home === undefined) return;
    for (const target of targets) if (!target.startsWith("#")) await this.#addImport(target, home);
  }

  async #addFile(path: string): Promise<void> {
    if (await this.#addFirst(await this.#candidates(path))) return;
    if ((await this.#options.host.files.kind(path)) !== "directory") return;
    this.places.add(join(path, "package.json"));
    await this.#addEntry(path, (await readDescription(this.#options.host, path)) ?? {});
  }

  /** The file that a folder stands for: what its `package.json` calls `main`, however that is completed, or its index. */
  async #addEntry(folder: string, { main }: Description): Promise<void> {
    const named = typeof main === "string" ? [resolve(folder, main)] : [];
    const places = named.flatMap((path) => [path, ...completed(path), ...completed(join(path, "index"))]);
    await this.#addFirst([...places, ...completed(join(folder, "index"))]);
  }

  /** Counts the places that are looked at before the first that is there. False if none is. */
  async #addFirst(candidates: readonly string[]): Promise<boolean> {
    for (const candidate of candidates) {
      this.places.add(candidate);
      if ((await this.#options.host.files.kind(candidate)) !== "file") continue;
      await this.#addModule(candidate);
      return true;
    }
    return false;
  }

  /** In the order in which they are tried: `x.js` may stand for `x.ts`, and `require()` completes names. */
  async #candidates(path: string): Promise<readonly string[]> {
    const twin = path.replace(/\.([cm]?)js$/, ".$1ts");
    const names = twin === path ? [path] : [path, twin];
    if (/\.[cm]?[jt]s$/.test(path)) return names;
    const isFolder = (await this.#options.host.files.kind(path)) === "directory";
    return isFolder ? completed(path) : [...names, ...completed(path)];
  }

  /** `subpath`: what of it is imported. Absent: anything. */
  async #addPackage(name: string, from: string, subpath?: string): Promise<void> {
    for (const above of foldersAbove(from)) {
      const packages = join(above, "node_modules");
      const place = join(packages, name);
      if (!(await this.#isFolder(packages)) || (await this.#options.host.files.kind(place)) !== "directory") continue;
      const folder = await this.#realPath(place);
      if (isInstalled(folder)) return this.#addPackageAt(folder);
      return this.#addLinked(folder, subpath);
    }
  }

  async #addPackageAt(folder: string | undefined): Promise<void> {
    if (folder === undefined || this.#packageFolders.has(folder)) return;
    this.#packageFolders.add(folder);
    const description = await this.#describe(folder);
    await this.addFolder(folder);
    await Promise.all(dependenciesOf(description).map((name) => this.#addPackage(name, folder)));
  }

  /** A package of a workspace, or of `npm link`: its files are sources that may change. */
  async #addLinked(folder: string, subpath: string | undefined): Promise<void> {
    const description = await this.#describe(folder);
    await this.addFolder(folder);
    const entries = subpath === undefined ? undefined : exportedFiles(description, subpath);
    for (const entry of entries ?? []) await this.#addFile(resolve(folder, entry));
    if (entries !== undefined && entries.length > 0) return;
    if (entries === undefined && subpath === ".") return this.#addEntry(folder, description);
    if (entries === undefined && subpath !== undefined) return this.#addFile(resolve(folder, subpath));
    if (this.places.has(folder)) return;
    this.places.add(folder);
    for (const name of dependenciesOf(description)) await this.#addPackage(name, folder);
  }

  async #describe(folder: string): Promise<Description> {
    const description = (await readDescription(this.#options.host, folder)) ?? {};
    const { name, version } = description;
    this.packages.set(folder, {
      name: typeof name === "string" ? name : basename(folder),
      version: typeof version === "string" ? version : undefined,
    });
    return description;
  }

  /** The nearest folder with a `package.json`. */
  async #packageFolder(module: string): Promise<string | undefined> {
    const { files } = this.#options.host;
    for (const folder of foldersAbove(dirname(module)))
      if ((await files.kind(join(folder, "package.json"))) === "file") return folder;
    return undefined;
  }

  /** The same few folders are asked for again with each package. */
  #isFolder(path: string): Promise<boolean> {
    return getOrMake(this.#hasPackages, path, async () => (await this.#options.host.files.kind(path)) === "directory");
  }

  #realPath(path: string): Promise<string> {
    return this.#options.host.files.realPath(path).catch(() => path);
  }
}

/** They resolve to the running copy. */
const ownPackages = /^(?:llm-do|zod)(?:\/|$)/;

function completed(path: string): readonly string[] {
  return [".js", ".json", ".node"].map((suffix) => path + suffix);
}

/** A folder and those above it, without `node_modules` folders: Node looks for packages and descriptions there. */
function* foldersAbove(folder: string): Generator<string> {
  for (let above = folder; ; above = dirname(above)) {
    if (basename(above) !== "node_modules") yield above;
    if (dirname(above) === above) return;
  }
}

function isInstalled(path: string): boolean {
  return path.split(sep).includes("node_modules");
}

/** Undefined for the name of a package. */
function pathOf(specifier: string, folder: string): string | undefined {
  const plain = decode(specifier.replace(/[?#].*$/s, ""));
  if (plain.startsWith("file:")) return decode(new URL(plain).pathname);
  if (isAbsolute(plain)) return plain;
  return /^\.{1,2}(?:\/|$)/.test(plain) ? resolve(folder, plain) : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function dependenciesOf(description: Description): readonly string[] {
  const kinds = ["dependencies", "optionalDependencies", "peerDependencies"].map((kind) => description[kind]);
  return [...new Set(kinds.flatMap((names) => (isRecord(names) ? Object.keys(names) : [])))];
}
