import { dirname, join, relative, resolve } from "node:path";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import { isRecord } from "../../protocol/json.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { getOwn } from "../../util/get-own.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { folderNames, type Home } from "../home.ts";

export interface PackagesOptions extends Pick<Compilation, "host" | "root" | "realRoot" | "manifest"> {
  readonly report: Report;
}

/** In bytes. */
const mostOfDescription = 1_000_000;

/** An installed npm package, as a place of workers and code. */
export interface InstalledPackage {
  readonly home: Home;
  /** Its `package.json`. */
  readonly description: Readonly<Record<string, unknown>>;
}

/** The npm packages that a program may use: those that `allowed_modules` names, by default its dependencies. Nothing is imported. */
export class Packages {
  readonly #options: PackagesOptions;
  readonly #installed = new Map<string, Promise<InstalledPackage | undefined>>();
  readonly #outside = new Set<string>();
  readonly #folders = new Set<string>();
  #allowed: Promise<readonly string[]> | undefined;

  constructor(options: PackagesOptions) {
    this.#options = options;
  }

  /** Real folders of the packages in use that lie outside of the program's folder: further up, or behind a link. */
  get outside(): readonly string[] {
    return [...this.#outside].sort();
  }

  /** The package that a reference like `@acme/tools/files:Export` names. Reports where it may not be used, or is not installed. */
  async find(specifier: string, reference: Spanned<string>): Promise<InstalledPackage | undefined> {
    const { name } = splitSpecifier(specifier);
    const { report } = this.#options;
    this.#allowed ??= this.#findAllowed();
    const allowed = await this.#allowed;
    const { span } = reference;
    const shown = clipText(name, 80);
    if (!allowed.some((glob) => matchesFlatGlob(glob, name))) {
      const note = `add it to \`dependencies\` of the program's package.json, or to \`allowed_modules\` of llm-do.yaml`;
      return report("module-not-allowed", { message: `the program may not use the package \`${shown}\``, span, note });
    }
    const found = await getOrMake(this.#installed, name, () => this.#findInstalled(name));
    const note = `run \`npm install ${shown}\` in the program's folder`;
    if (!found) report("module-missing", { message: `the package \`${shown}\` is not installed`, span, note });
    return found;
  }

  /** Folders of the packages in use, as the program finds them. */
  get folders(): ReadonlySet<string> {
    return this.#folders;
  }

  /** True if the program names any package. */
  get areUsed(): boolean {
    return this.#installed.size > 0;
  }

  /** The file that importing the specifier would run. Reports where the package offers none. */
  async codeFile(specifier: string, found: InstalledPackage, reference: Spanned<string>): Promise<string | undefined> {
    const { subpath } = splitSpecifier(specifier);
    const { folder } = found.home;
    const written = exportedFile(found.description, subpath);
    const path = written === undefined ? undefined : resolve(folder, written);
    if (path !== undefined && isWithin(path, folder) && (await this.#options.host.files.kind(path)) === "file") return path;
    const message = `the package offers no \`${clipText(specifier, 80)}\``;
    return this.#options.report("module-missing", { message, span: reference.span });
  }

  async #findInstalled(name: string): Promise<InstalledPackage | undefined> {
    const { host, root, realRoot } = this.#options;
    for (let folder = root; ; folder = dirname(folder)) {
      const place = join(folder, "node_modules", name);
      const description = await this.#readDescription(place);
      if (description) {
        const real = await host.files.realPath(place);
        this.#folders.add(place);
        if (!isWithin(real, realRoot)) this.#outside.add(real);
        return { home: { folder: place, prefix: `${name}:`, package: name, names: folderNames(host, place) }, description };
      }
      if (dirname(folder) === folder) return undefined;
    }
  }

  async #findAllowed(): Promise<readonly string[]> {
    const { root, manifest } = this.#options;
    if (manifest?.allowed_modules) return manifest.allowed_modules.value.map(({ value }) => value);
    const description = await this.#readDescription(root);
    const dependencies = description?.["dependencies"];
    const optional = description?.["optionalDependencies"];
    return [dependencies, optional].flatMap((names) => (isRecord(names) ? Object.keys(names) : []));
  }

  /** The `package.json` of a folder. Undefined if there is none; reports one that cannot be read. */
  async #readDescription(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { host, report } = this.#options;
    const path = join(folder, "package.json");
    if ((await host.files.kind(path)) === undefined) return undefined;
    try {
      const text = await host.files.readText(path, { maxBytes: mostOfDescription, within: folder });
      const description = parseJson(text);
      return isRecord(description) ? description : undefined;
    } catch (thrown) {
      const message = `\`${relative(host.workingDirectory, path)}\` cannot be read: ${errorMessage(thrown)}`;
      return report("file-unreadable", { message });
    }
  }
}

/** `@acme/tools/files` is the entry `./files` of `@acme/tools`. */
export function splitSpecifier(specifier: string): { readonly name: string; readonly subpath: string } {
  const parts = specifier.split("/");
  const count = specifier.startsWith("@") ? 2 : 1;
  const subpath = parts.slice(count).join("/");
  return { name: parts.slice(0, count).join("/"), subpath: subpath === "" ? "." : `./${subpath}` };
}

/** A name that npm gives out, with an entry of it: nothing that could lead elsewhere as a path. */
export function isSpecifier(text: string): boolean {
  return (
    /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:\/[\w.@~-]+)*$/i.test(text) &&
    !/(?:^|\/)\.{1,2}(?:\/|$)/.test(text)
  );
}

/** The `package.json` of a folder, wherever it lies. Undefined if there is none that can be read. */
export async function readDescription(
  { files }: Pick<Host, "files">,
  folder: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await files.readText(join(folder, "package.json"), { maxBytes: mostOfDescription }).catch(() => "");
  const description = parseJson(text);
  return isRecord(description) ? description : undefined;
}

/** The conditions under which a program's code is imported, in no order: a package's own order decides. */
const conditions: ReadonlySet<string> = new Set(["import", "node", "node-addons", "module-sync", "default"]);

type Table = Readonly<Record<string, unknown>>;

/** Accepts the conditions of a target that may hold. */
type Accepts = (condition: string) => boolean;

/**
 * The file that a package's `package.json` gives for one of its entries (`.`, `./files`), relative to the package: what
 * Node would import, found without importing. Undefined if it offers none.
 */
export function exportedFile(description: Table, subpath: string): string | undefined {
  const found = exportedFiles(description, subpath, (condition) => conditions.has(condition));
  if (found !== undefined) return found[0];
  if (subpath !== ".") return subpath;
  const { main } = description;
  return typeof main === "string" ? main.replace(/(?<!\.[cm]?js)$/, ".js") : "./index.js";
}

/**
 * Every file that an entry could mean, by default under any condition: code that calls `require()` gets another one than code
 * that imports. Undefined if the package has no `exports`.
 */
export function exportedFiles({ exports }: Table, subpath: string, accepts?: Accepts): readonly string[] | undefined {
  if (exports === undefined || exports === null) return undefined;
  const isBySubpath = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  return fromTable(isBySubpath ? exports : { ".": exports }, subpath, accepts);
}

/** All that a `#name` could mean by the `imports` of a `package.json`: paths in its package, or names of others. */
export function importedTargets({ imports }: Table, specifier: string): readonly string[] {
  return isRecord(imports) ? fromTable(imports, specifier) : [];
}

/** The pattern with the longest part before its `*` wins, as in Node. */
function fromTable(table: Table, subpath: string, accepts?: Accepts): readonly string[] {
  const exact = getOwn(table, subpath);
  if (exact !== undefined) return targetsOf(exact, accepts);
  const fitting = Object.keys(table).filter((pattern) => fillPattern(pattern, subpath) !== undefined);
  const [best] = fitting.sort((a, b) => b.indexOf("*") - a.indexOf("*") || b.length - a.length);
  if (best === undefined) return [];
  const filled = fillPattern(best, subpath) ?? "";
  return targetsOf(table[best], accepts).map((target) => target.replaceAll("*", () => filled));
}

/** The part of a subpath that `*` of `./features/*.js` stands for. */
function fillPattern(pattern: string, subpath: string): string | undefined {
  const [before = "", after, ...more] = pattern.split("*");
  if (after === undefined || more.length > 0) return undefined;
  const fits = subpath.startsWith(before) && subpath.endsWith(after) && subpath.length > before.length + after.length;
  return fits ? subpath.slice(before.length, subpath.length - after.length) : undefined;
}

/** The files of a target, in its own order. */
function targetsOf(target: unknown, accepts: Accepts = () => true): readonly string[] {
  if (typeof target === "string") return [target];
  if (Array.isArray(target)) return target.flatMap((one) => targetsOf(one, accepts));
  if (!isRecord(target)) return [];
  return Object.entries(target).flatMap(([condition, inner]) => (accepts(condition) ? targetsOf(inner, accepts) : []));
}
