import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWithin } from "../../util/within.ts";
import { entriesOf, linksBehind, realPathOf, textOfLink } from "../command/look.ts";

/** The packages that this process runs from, where they were installed into a `node_modules`. Host paths. */
export interface Installation {
  /** Packages, without links in their paths: this one, Node's, and those that this one loads. None lies in another. */
  readonly folders: readonly string[];
  /** Links to packages, and to their programs. */
  readonly links: readonly string[];
}

let found: Installation | undefined;

/** Looks once: what runs already stays what it is. A clone, which is developed, is no installation. */
export function findInstallation(): Installation {
  found ??= findFrom(fileURLToPath(import.meta.url), realPathOf(process.execPath) ?? process.execPath);
  return found;
}

function findFrom(file: string, node: string): Installation {
  const own = packageAround(file);
  if (own === undefined) return { folders: [], links: [] };
  const folders = new Set([own, packageAround(node) ?? own]);
  const links = new Set(linksBehind(process.argv[1] ?? ""));
  for (const folder of folders) {
    for (const name of dependenciesOf(folder)) {
      const place = placeOf(name, folder);
      const real = place === undefined ? undefined : realPathOf(place);
      if (place === undefined || real === undefined) continue;
      folders.add(real);
      if (textOfLink(place) !== undefined) links.add(place);
    }
  }
  const programs = join(dirname(own), ".bin");
  for (const { name } of entriesOf(programs)) {
    const program = realPathOf(join(programs, name)) ?? "";
    if ([...folders].some((folder) => isWithin(program, folder))) links.add(join(programs, name));
  }
  const isInner = (path: string) => [...folders].some((folder) => folder !== path && isWithin(path, folder));
  return { folders: [...folders].filter((path) => !isInner(path)), links: [...links] };
}

/** The folder of the package that a file belongs to, if it is installed. */
function packageAround(path: string): string | undefined {
  return /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+(?=[/\\])/.exec(path)?.[0];
}

/** The nearest folder of this name, as Node looks for it. */
function placeOf(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const place = join(at, "node_modules", name);
    if (realPathOf(place) !== undefined) return place;
    if (at === dirname(at)) return undefined;
  }
}

function dependenciesOf(folder: string): readonly string[] {
  try {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  } catch {
    return [];
  }
}
