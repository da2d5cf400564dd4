import { join, relative } from "node:path";
import type { Worker } from "../../program/program.ts";
import { programSuffix } from "../../protocol/program-file.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { codeFileNames, homeOf, isCodePath } from "../home.ts";
import { CodeSearch } from "./code-search.ts";
import { findServerCode } from "./server-code.ts";

/** The code of a program, which runs with all rights of the user. */
export interface ProgramCode {
  /** Absolute paths of modules, links followed, and of scripts that the program's files name as models. Sorted. */
  readonly files: readonly string[];
  /** The packages that they import, with what these depend on: `dep 1.2.0 (node_modules/dep)`. Sorted. */
  readonly packages: readonly string[];
  /** Absolute paths of scripts that the program's files name as models, and that really lie outside of its folder. Sorted. */
  readonly scriptsOutside: readonly string[];
  /** Absolute paths of folders of which an MCP server can load any file that is no data. */
  readonly codeFolders: readonly string[];
}

/**
 * Finds the program's code without running any, reports `import()` of computed names, and reserves the places that it is read
 * from. A script that the user names is the user's: its places are reserved, and it is no part of what is trusted. What MCP servers
 * load is reserved likewise: their command lines are what is trusted.
 */
export async function findCode(compilation: Compilation, workers: ReadonlyMap<string, Worker>): Promise<ProgramCode> {
  const { host, files, modules, packages, home, root } = compilation;
  const scripts = scriptsOf(workers, "program");
  for (const path of scripts) if ((await host.files.kind(path)) === "file") await files.read(path, { home: homeOf(path, home) });
  const place = inProgram(compilation);
  const search = new CodeSearch({ host, read: (path) => files.readModule(place(path)) });
  // The interpreter of a program loads nothing; one that a module imports is code like any other.
  const programs = [...modules.used.keys()].filter((path) => path.endsWith(programSuffix));
  const starts = [...modules.used.keys(), ...scripts.filter(isCodePath)].filter((path) => !programs.includes(path));
  if (packages.areUsed) await search.addFolder(root);
  // A package can lie in a folder that is worked on. What says its entries, and modules whose exports its workers would find.
  for (const folder of packages.folders) for (const name of ["package.json", ...codeFileNames]) files.reserve(join(folder, name));
  await search.follow(starts);
  reportComputed(compilation, search, place);
  const users = scriptsOf(workers, "user");
  const read = async (path: string) => {
    const text = await host.files.readText(path).catch(() => undefined);
    return text === undefined ? undefined : { name: path, text };
  };
  const others = new CodeSearch({ host, read });
  const served = await findServerCode(compilation, workers);
  await others.follow(users.filter(isCodePath));
  for (const place of [
    ...programs,
    ...scripts,
    ...users,
    ...served.places,
    ...search.places,
    ...others.places,
    ...others.modules,
  ])
    files.reserve(place);
  return {
    files: [...new Set([...[...search.modules].map(place), ...programs])].sort(),
    packages: describePackages(compilation, search, place),
    scriptsOutside: await findOutside(compilation, scripts),
    codeFolders: served.codeFolders,
  };
}

async function findOutside({ host, realRoot }: Compilation, paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map((path) => host.files.realPath(path).catch(() => path)));
  return paths.filter((_, index) => !isWithin(real[index] ?? "", realRoot)).sort();
}

function scriptsOf(workers: ReadonlyMap<string, Worker>, namedBy: "program" | "user"): string[] {
  const models = [...workers.values()].flatMap(({ model }) => (model?.namedBy === namedBy ? [model.id] : []));
  return [...new Set(models.flatMap((id) => /^scripted:(.+)$/i.exec(id)?.[1] ?? []))];
}

/** Reports the program's own modules only, since a diagnostic shows a line of its file. */
function reportComputed({ root, diagnostics }: Compilation, { computed }: CodeSearch, place: (path: string) => string): void {
  for (const [path, spans] of computed) {
    if (!isWithin(place(path), root)) continue;
    for (const span of spans) {
      const message = "what this `import()` loads is known only when it runs";
      const note = "write the name out, or `import` all that can be meant and choose among them";
      diagnostics.report("computed-import", { message, span, note });
    }
  }
}

function describePackages({ root }: Compilation, { packages }: CodeSearch, place: (path: string) => string): readonly string[] {
  const texts = [...packages].map(([folder, { name, version }]) => {
    const found = place(folder);
    const shown = isWithin(found, root) ? relative(root, found).replaceAll("\\", "/") || "." : found;
    return `${name}${version === undefined ? "" : ` ${version}`} (${shown})`;
  });
  return texts.sort();
}

/** Gives real paths in the program's folder the spelling that the folder was named with. */
function inProgram({ root, realRoot }: Compilation): (path: string) => string {
  return (path) => (isWithin(path, realRoot) ? join(root, relative(realRoot, path)) : path);
}
