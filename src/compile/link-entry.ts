import { relative } from "node:path";
import type { ScopeDeclaration } from "../host/scopes.ts";
import type { CodeEntry, Entry, Worker } from "../program/program.ts";
import { isTool } from "../toolsets/toolset.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import type { Compilation } from "./compilation.ts";
import type { EntryPlace } from "./locate-entry.ts";

/** What starts the run. Undefined, with a diagnostic, where there is no such thing or it cannot be looked at. */
export async function linkEntry(
  compilation: Compilation,
  entry: EntryPlace,
  { workers, scopes }: { readonly workers: ReadonlyMap<string, Worker>; readonly scopes: readonly ScopeDeclaration[] },
): Promise<Entry | undefined> {
  if (entry.kind === "code") return linkCode(compilation, entry, scopes);
  const worker = workers.get(entry.path);
  return worker && { kind: "worker", worker };
}

async function linkCode(
  compilation: Compilation,
  { path, name: { value: name, span } }: EntryPlace & { readonly kind: "code" },
  scopes: readonly ScopeDeclaration[],
): Promise<Entry | undefined> {
  const { modules, home, host, diagnostics } = compilation;
  const { names, complete, failed } = await modules.exports(path, { home, from: span });
  const values = await modules.values(path, { home, from: span });
  if (failed || (modules.trusted && !values)) return undefined;
  if (!values && (names.has(name) || !complete)) {
    const message = `\`${name}\` is code, and the program is not trusted: whether it is a function is not known`;
    return diagnostics.report("not-verified-untrusted", { message, span });
  }
  const value = values?.get(name);
  const input = isTool(value) ? value.input : undefined;
  if (isTool(value) || typeof value === "function") {
    const execute = (isTool(value) ? value.execute : value) as CodeEntry["execute"];
    return { kind: "code", code: Object.freeze({ name, input, scopes, execute }) };
  }
  const message = `\`${relative(host.workingDirectory, path)}\` exports no function \`${name}\``;
  return diagnostics.report("entry-not-found", { message, span, note: didYouMean(name, names.keys()) });
}
