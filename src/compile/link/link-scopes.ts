import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Spanned } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import type { ScopeDeclaration } from "../../host/scopes/scopes.ts";
import type { ScopeSyntax, WorkerFile } from "../../language/worker-file.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { isFlag } from "../flag.ts";

/** The scope of workers that declare none: the program's folder, `rw`; every write asks. */
async function linkDefaultScope(compilation: Compilation): Promise<ScopeDeclaration> {
  const chosen = compilation.scopeRoots.rootOf(".");
  if (!chosen) return { name: ".", root: compilation.root, realRoot: compilation.realRoot, mode: "rw" };
  const scope = { name: ".", mode: "rw" } as const;
  return { ...scope, ...(await linkRoot(compilation, chosen, scope)), isChosen: true };
}

/**
 * The scopes of one worker, or of code (which declares none). Roots are relative to the file that declares them, and those of
 * `--scope`, which come before them, to the working directory; a missing read-only root is a mistake. The scope that is the
 * program's folder comes first, wherever it is declared: commands run in the first scope unless they name another folder.
 */
export async function linkScopes(compilation: Compilation, file: WorkerFile | undefined): Promise<readonly ScopeDeclaration[]> {
  const sandbox = file?.sandbox ?? compilation.manifest?.sandbox;
  const paths = sandbox?.value.paths;
  if (!paths) return [toOwn(compilation, await linkDefaultScope(compilation))];
  const linked = await Promise.all(paths.value.map((syntax) => linkScope(compilation, syntax)));
  const scopes = linked.map((scope) => toOwn(compilation, scope));
  const isHome = ({ realRoot }: ScopeDeclaration) => realRoot === compilation.realRoot;
  return [...scopes.filter(isHome), ...scopes.filter((scope) => !isHome(scope))];
}

function toOwn({ realRoot: program }: Compilation, scope: ScopeDeclaration): ScopeDeclaration {
  const { realRoot, isChosen } = scope;
  if (isChosen || realRoot === undefined || !isWithin(realRoot, program)) return scope;
  return { ...scope, inProgram: relative(program, realRoot).replaceAll("\\", "/") };
}

async function linkScope(compilation: Compilation, syntax: ScopeSyntax): Promise<ScopeDeclaration> {
  const name = syntax.name.value;
  const mode = syntax.mode?.value ?? "ro";
  const chosen = compilation.scopeRoots.rootOf(name);
  return {
    name,
    ...(await linkRoot(compilation, chosen ?? syntax.root, { name, mode })),
    mode,
    ...(chosen ? { isChosen: true } : {}),
    ...(syntax.suffixes ? { suffixes: syntax.suffixes.value } : {}),
    ...(syntax.max_file_bytes ? { maxFileBytes: syntax.max_file_bytes.value } : {}),
    ...(syntax.write_approval ? { writeApproval: syntax.write_approval.value } : {}),
    ...(syntax.read_approval ? { readApproval: syntax.read_approval.value } : {}),
  };
}

type Root = Required<Pick<ScopeDeclaration, "root" | "realRoot">>;

type Named = Pick<ScopeDeclaration, "name" | "mode">;

async function linkRoot(compilation: Compilation, written: Spanned<string>, scope: Named): Promise<Root> {
  const root = await rootFolder(compilation, written, scope.mode);
  await checkRoot(compilation, written, { ...scope, root });
  return { root, realRoot: await realPathOf(compilation.host, root) };
}

/** The absolute path of a root: relative to the file that says it, or, with `~`, to the user's folder. */
export function rootPath({ host, files }: Compilation, { value, span }: Spanned<string>): string {
  const isAtHome = value === "~" || value.startsWith("~/");
  return isAtHome ? join(host.homeDirectory, value.slice(1)) : resolve(files.folderOf(span), value);
}

/**
 * The folder that a root is. In a copy of a program, a relative root that leads out of the program's folder is that of the program itself;
 * so is a read-only one that leads out by a link, which the copy lacks.
 */
export async function rootFolder(compilation: Compilation, written: Spanned<string>, mode: Named["mode"]): Promise<string> {
  const { host, files, root, copyOf } = compilation;
  const path = rootPath(compilation, written);
  const isRelative = !isAbsolute(written.value) && !written.value.startsWith("~");
  if (copyOf === undefined || !isRelative || !isWithin(files.folderOf(written.span), root)) return path;
  const original = resolve(copyOf, relative(root, path));
  if (!isWithin(path, root)) return original;
  if (mode === "rw" || (await host.files.kind(path)) !== undefined) return path;
  return isWithin(await realPathOf(host, original), await realPathOf(host, copyOf)) ? path : original;
}

/** The real path; for a missing folder, the path where it would be made. */
async function realPathOf(host: Host, path: string): Promise<string> {
  try {
    return await host.files.realPath(path);
  } catch {
    return dirname(path) === path ? path : join(await realPathOf(host, dirname(path)), basename(path));
  }
}

async function checkRoot(
  { host, diagnostics }: Compilation,
  { value, span }: Spanned<string>,
  { name, root, mode }: Named & { readonly root: string },
): Promise<void> {
  const kind = await host.files.kind(root);
  const label = `the root \`${value}\` of the scope \`${name}\``;
  if (kind === undefined && mode === "ro") {
    const base = isFlag(span) ? "the working directory" : "the file that says it";
    const siblings = await host.files.names(dirname(root)).catch(() => []);
    const [near] = nearestNames(basename(root), siblings, 1);
    const meant =
      near === undefined ? "" : `did you mean \`${value.slice(0, value.lastIndexOf(basename(root)))}${near}\`? Otherwise `;
    const note = `${meant}make the folder, or correct the path; it is relative to ${base}`;
    diagnostics.report("scope-root-missing", { message: `${label} is not there`, span, note });
  } else if (kind !== undefined && kind !== "directory") {
    diagnostics.report("scope-root-not-folder", { message: `${label} is not a folder`, span });
  }
}
