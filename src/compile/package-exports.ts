import { isRecord } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";

/** The conditions under which a program's code is imported, in no order: a package's own order decides. */
const conditions: ReadonlySet<string> = new Set(["import", "node", "node-addons", "module-sync", "default"]);

type Table = Readonly<Record<string, unknown>>;

/** Whether a condition of a target may hold. */
type Accepts = (condition: string) => boolean;

/**
 * The file that a package's `package.json` gives for one of its entries (`.`, `./files`), relative to the package: what
 * Node would import, found without importing. Undefined where it offers none.
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
 * that imports. Undefined where the package has no `exports`.
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

/** Of several patterns that fit, the one with the longest part before its `*` counts, as in Node. */
function fromTable(table: Table, subpath: string, accepts?: Accepts): readonly string[] {
  const exact = getOwn(table, subpath);
  if (exact !== undefined) return targetsOf(exact, accepts);
  const fitting = Object.keys(table).filter((pattern) => fillPattern(pattern, subpath) !== undefined);
  const [best] = fitting.sort((a, b) => b.indexOf("*") - a.indexOf("*") || b.length - a.length);
  if (best === undefined) return [];
  const filled = fillPattern(best, subpath) ?? "";
  return targetsOf(table[best], accepts).map((target) => target.replaceAll("*", () => filled));
}

/** What `*` of `./features/*.js` stands for in a subpath. */
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
