import { dirname, join, relative } from "node:path";
import type { Spanned } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { type Home, homeOf } from "../home.ts";
import { isSpecifier } from "../modules/packages.ts";

/** A worker's file, and the home that its references resolve in. */
export interface PlacedWorker {
  readonly path: string;
  readonly home: Home;
}

/** Returns whether a reference names the file of a worker, or several by a glob: `./helpers/*.worker`, `package:workers/x.worker`. */
export function isWorkerPath(reference: string): boolean {
  return /[/:]/.test(reference) || reference.endsWith(".worker");
}

/**
 * Finds the worker at `./helpers/x.worker`, relative to the file that says so, or `package:workers/x.worker`. Undefined, with a diagnostic,
 * if there is none.
 */
export async function resolveWorkerPath(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<PlacedWorker | undefined> {
  const { packages, files } = compilation;
  const { specifier, path } = splitReference(reference.value);
  if (specifier === undefined) {
    const found = await files.resolve(reference, home);
    return found === undefined ? undefined : { path: found, home: homeOf(found, home) };
  }
  const installed = await packages.find(specifier, reference);
  if (!installed) return undefined;
  const found = await files.resolve({ value: path, span: reference.span }, installed.home, installed.home.folder);
  return found === undefined ? undefined : { path: found, home: installed.home };
}

/**
 * Finds the workers whose paths match a glob, in the order of their paths. `*` and `?` match slashes, too. Reports a glob that leads out of
 * the program, and a package that may not be used.
 */
export async function findWorkerPaths(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<readonly PlacedWorker[]> {
  const { packages, files, host, diagnostics } = compilation;
  const { specifier, path } = splitReference(reference.value);
  const installed = specifier === undefined ? undefined : await packages.find(specifier, reference);
  if (specifier !== undefined && !installed) return [];
  const whose = installed?.home ?? home;
  const glob = join(installed?.home.folder ?? files.folderOf(reference.span), path);
  const folder = dirname(`${glob.slice(0, glob.search(/[*?]/))}x`);
  if (!isWithin(folder, whose.folder)) {
    const message = `\`${clipText(reference.value, 80)}\` leads out of ${installed ? `the package \`${specifier}\`` : "the program's folder"}`;
    diagnostics.report("reference-outside", { message, span: reference.span });
    return [];
  }
  const found = (await listWorkers(host, folder)).filter((file) => matchesFlatGlob(glob, file));
  return found.map((file) => ({ path: file, home: homeOf(file, whose) }));
}

function splitReference(reference: string): { readonly specifier?: string; readonly path: string } {
  const [, specifier = "", path = ""] = /^([^:]+):(.+)$/.exec(reference) ?? [];
  return isSpecifier(specifier) ? { specifier, path } : { path: reference };
}

/** Lists the files of workers in a folder and below, without hidden folders and dependencies. Follows no glob out of `deepest` levels. */
async function listWorkers(host: Pick<Host, "files">, folder: string, levels = deepest): Promise<readonly string[]> {
  const names = await host.files.names(folder).catch(() => []);
  const workers = names.filter((name) => name.endsWith(".worker")).map((name) => join(folder, name));
  // As everywhere, a name with a dot is taken for a file.
  const folders = levels === 0 ? [] : names.filter((name) => !name.includes(".") && name !== "node_modules");
  const below = await Promise.all(folders.map((name) => listWorkers(host, join(folder, name), levels - 1)));
  return [...workers, ...below.flat()].sort((a, b) => (relative(folder, a) < relative(folder, b) ? -1 : 1));
}

const deepest = 8;
