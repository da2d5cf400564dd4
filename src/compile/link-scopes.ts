import { join, resolve } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { ScopeDeclaration } from "../host/scopes.ts";
import type { ScopeSyntax, WorkerFile } from "../language/worker-file.ts";
import type { Compilation } from "./compilation.ts";

/** For whoever declares no scopes: the program's folder, `rw`; every write asks. */
function defaultScope(root: string): ScopeDeclaration {
  return { name: ".", root, mode: "rw" };
}

/**
 * The scopes of one worker, or of code (which declares none). Roots are relative to the file that declares them; a missing
 * read-only root is a mistake.
 */
export async function linkScopes(compilation: Compilation, file: WorkerFile | undefined): Promise<readonly ScopeDeclaration[]> {
  const sandbox = file?.sandbox ?? compilation.manifest?.sandbox;
  const paths = sandbox?.value.paths;
  if (!paths) return [defaultScope(compilation.root)];
  return Promise.all(paths.value.map((syntax) => linkScope(compilation, syntax)));
}

async function linkScope(compilation: Compilation, syntax: ScopeSyntax): Promise<ScopeDeclaration> {
  const { host, files } = compilation;
  const written = syntax.root.value;
  const isAtHome = written === "~" || written.startsWith("~/");
  const root = isAtHome ? join(host.homeDirectory, written.slice(1)) : resolve(files.folderOf(syntax.root.span), written);
  const mode = syntax.mode?.value ?? "ro";
  await checkRoot(compilation, syntax, { root, mode });
  return {
    name: syntax.name.value,
    root,
    mode,
    ...(syntax.suffixes ? { suffixes: syntax.suffixes.value } : {}),
    ...(syntax.max_file_bytes ? { maxFileBytes: syntax.max_file_bytes.value } : {}),
    ...(syntax.write_approval ? { writeApproval: syntax.write_approval.value } : {}),
    ...(syntax.read_approval ? { readApproval: syntax.read_approval.value } : {}),
  };
}

async function checkRoot(
  { host, diagnostics }: Compilation,
  { name, root: written }: ScopeSyntax,
  { root, mode }: { root: string; mode: "ro" | "rw" },
): Promise<void> {
  const kind = await host.files.kind(root);
  const label = `the root \`${written.value}\` of the scope \`${name.value}\``;
  if (kind === undefined && mode === "ro") {
    const notes = [{ message: "make the folder, or correct the path; it is relative to the file that says it" }];
    diagnostics.report(diagnose("scope-root-missing", { message: `${label} is not there`, span: written.span, notes }));
  } else if (kind !== undefined && kind !== "directory") {
    diagnostics.report(diagnose("scope-root-not-folder", { message: `${label} is not a folder`, span: written.span }));
  }
}
