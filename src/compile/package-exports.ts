import { isRecord } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";

/** The conditions under which a program's code is imported, in no order: a package's own order decides. */
const conditions: ReadonlySet<string> = new Set(["import", "node", "module-sync", "default"]);

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

/** What a `#name` means by the `imports` of a `package.json`: a path in its package, or the name of another one. */
export function importedTarget(description: Readonly<Record<string, unknown>>, specifier: string): string | undefined {
  const { imports } = description;
  return isRecord(imports) ? fromTable(imports, specifier) : undefined;
}

function withSuffix(main: string): string {
  return /\.[cm]?js$/.test(main) ? main : `${main}.js`;
}

function fromExports(exports: unknown, subpath: string): string | undefined {
  const isBySubpath = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  if (!isBySubpath) return subpath === "." ? choose(exports) : undefined;
  return fromTable(exports as Record<string, unknown>, subpath);
}

function fromTable(table: Readonly<Record<string, unknown>>, subpath: string): string | undefined {
  const exact = getOwn(table, subpath);
  if (exact !== undefined) return choose(exact);
  for (const [pattern, target] of Object.entries(table)) {
    const filled = fillPattern(pattern, subpath);
    if (filled !== undefined) return choose(target)?.replaceAll("*", filled);
  }
  return undefined;
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
