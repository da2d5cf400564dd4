import { isRecord } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";

/** The conditions under which a program's code is imported, in no order: a package's own order decides. */
const conditions: ReadonlySet<string> = new Set(["import", "node", "node-addons", "module-sync", "default"]);

/**
 * The file that a package's `package.json` gives for one of its entries (`.`, `./files`), relative to the package: what
 * Node would import, found without importing. Undefined where it offers none.
 */
export function exportedFile(description: Readonly<Record<string, unknown>>, subpath: string): string | undefined {
  const { exports } = description;
  if (exports !== undefined && exports !== null) return fromExports(exports, subpath);
  if (subpath !== ".") return subpath;
  const { main } = description;
  return typeof main === "string" ? withSuffix(main) : "./index.js";
}

/**
 * Every file that an entry could mean, under whatever condition: code that calls `require()` gets another one than code that
 * imports. Undefined where the package has no `exports`.
 */
export function exportedFiles(description: Readonly<Record<string, unknown>>, subpath: string): readonly string[] | undefined {
  const { exports } = description;
  if (exports === undefined || exports === null) return undefined;
  if (isBySubpath(exports)) return fromTable(exports, subpath, allOf) ?? [];
  return subpath === "." ? allOf(exports) : [];
}

/** All that a `#name` could mean by the `imports` of a `package.json`: paths in its package, or names of others. */
export function importedTargets(description: Readonly<Record<string, unknown>>, specifier: string): readonly string[] {
  const { imports } = description;
  return (isRecord(imports) ? fromTable(imports, specifier, allOf) : undefined) ?? [];
}

function withSuffix(main: string): string {
  return /\.[cm]?js$/.test(main) ? main : `${main}.js`;
}

function fromExports(exports: unknown, subpath: string): string | undefined {
  if (isBySubpath(exports)) return fromTable(exports, subpath, (target) => choose(target))?.[0];
  return subpath === "." ? choose(exports) : undefined;
}

function isBySubpath(exports: unknown): exports is Readonly<Record<string, unknown>> {
  return isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
}

type Table = Readonly<Record<string, unknown>>;

/** Of several patterns that fit, the one that says most before its `*` counts, as in Node. */
function fromTable(
  table: Table,
  subpath: string,
  read: (target: unknown) => string | readonly string[] | undefined,
): readonly string[] | undefined {
  const exact = getOwn(table, subpath);
  if (exact !== undefined) return [read(exact) ?? []].flat();
  const fitting = Object.keys(table).filter((pattern) => fillPattern(pattern, subpath) !== undefined);
  const [best] = fitting.sort((a, b) => b.indexOf("*") - a.indexOf("*") || b.length - a.length);
  if (best === undefined) return undefined;
  const filled = fillPattern(best, subpath) ?? "";
  return [read(table[best]) ?? []].flat().map((target) => target.replaceAll("*", () => filled));
}

/** What `*` of `./features/*.js` stands for in a subpath. */
function fillPattern(pattern: string, subpath: string): string | undefined {
  const [before = "", after, ...more] = pattern.split("*");
  if (after === undefined || more.length > 0) return undefined;
  const fits = subpath.startsWith(before) && subpath.endsWith(after) && subpath.length > before.length + after.length;
  return fits ? subpath.slice(before.length, subpath.length - after.length) : undefined;
}

function choose(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map(choose).find((found) => found !== undefined);
  if (!isRecord(target)) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    const found = conditions.has(condition) ? choose(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function allOf(target: unknown): readonly string[] {
  if (typeof target === "string") return [target];
  return Array.isArray(target) || isRecord(target) ? Object.values(target).flatMap(allOf) : [];
}
