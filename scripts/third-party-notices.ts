// Licences of the packages that are bundled into dist/, which have to be shipped with them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Licences that allow it. */
const allowed = ["Apache-2.0", "BSD-3-Clause", "ISC", "MIT"];

/** `paths`: those of the modules in the bundle. Throws for a package whose licence does not allow it, or has no text. */
export function renderNotices(paths: readonly string[]): string {
  const folders = new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const packages = [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const [file] = globSync("{licen[sc]e,LICEN[SC]E}*", { cwd: folder });
    return { ...manifest, text: file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim() };
  });
  const sections = packages.map(({ name, version, license = "none", text }) => {
    // Some packages of a repository have no copy of its licence.
    const own = text ?? packages.find((other) => other.license === license && other.text !== undefined)?.text;
    if (!allowed.includes(license) || own === undefined) throw new Error(`${name} cannot be bundled: its licence is ${license}`);
    return `${name} ${version}, ${license}\n\n${own}\n`;
  });
  return `dist/ holds parts of these packages.\n\n${sections.join(`\n${"-".repeat(80)}\n\n`)}`;
}
