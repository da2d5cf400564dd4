import { relative, resolve } from "node:path";
import type { Span, Spanned } from "../diagnostics/source.ts";
import type { ScopeDeclaration } from "../host/scopes/scopes.ts";
import type { CodeEntry, Entry, Worker } from "../program/program.ts";
import { isTool } from "../toolsets/toolset.ts";
import { didYouMean, quoteNames } from "../util/text/did-you-mean.ts";
import { nearestNames } from "../util/text/nearest-names.ts";
import { isWithin } from "../util/within.ts";
import { hintAtReentry } from "./checks/reentry.ts";
import type { Compilation } from "./compilation.ts";
import { createFlagSource, wholeOf } from "./flag.ts";
import type { LocatedProgram } from "./locate-target.ts";

/** The entry of a run: a worker, or an exported function. Paths are absolute. */
export type LocatedEntry =
  | { readonly kind: "worker"; readonly path: string; readonly from?: Span }
  | { readonly kind: "code"; readonly path: string; readonly name: Spanned<string> };

/** The first of `--entry`, the target if it is a worker file, the manifest's `entry`, and `main`. Reports where there is none. */
export async function locateEntry(
  compilation: Compilation,
  place: LocatedProgram,
  entry: string | undefined,
): Promise<LocatedEntry | undefined> {
  if (entry !== undefined) return findEntry(compilation, flagged("--entry", entry));
  if (place.worker !== undefined) return { kind: "worker", path: place.worker };
  const { manifest } = compilation;
  if (manifest?.entry) return findEntry(compilation, manifest.entry);
  const [only, ...others] = place.listed?.filter((path) => path.endsWith(".worker")) ?? [];
  if (only !== undefined && others.length === 0) return { kind: "worker", path: only };
  return findMain(compilation);
}

async function findMain(compilation: Compilation): Promise<LocatedEntry | undefined> {
  const { host, root, home, diagnostics } = compilation;
  const paths = await home.names.workerPaths("main");
  const [only, ...others] = paths;
  if (only !== undefined && others.length === 0) return { kind: "worker", path: only };
  if (only !== undefined) return findEntry(compilation, flagged("--entry", "main"));
  const folder = relative(host.workingDirectory, root) || ".";
  const names = await home.names.workerNames();
  const near = nearestNames("main.worker", await host.files.names(root).catch(() => []), 1);
  const [code] = await home.names.codeFiles();
  const orCode =
    code === undefined ? "" : `, or with a function of \`${relative(root, code)}\`: \`${relative(root, code)}:NAME\``;
  const note =
    names.length > 0
      ? `pass \`--entry\` with one of ${quoteNames(names.slice(0, 10))}${orCode}`
      : near.length > 0
        ? `rename \`${near[0]}\` to \`main.worker\``
        : "a program begins with a `main.worker`";
  return diagnostics.report("entry-not-found", { message: `\`${folder}\` holds no \`main.worker\``, note });
}

async function findEntry(compilation: Compilation, entry: Spanned<string>): Promise<LocatedEntry | undefined> {
  const { root, home } = compilation;
  if (entry.value.includes(":")) return findCode(compilation, entry);
  const [path, ...others] = await home.names.workerPaths(entry.value);
  if (path !== undefined && others.length === 0) return { kind: "worker", path, from: entry.span };
  const found = [path ?? "", ...others].map((one) => `\`${relative(root, one)}\``).join(" or ");
  if (path !== undefined) return refuse(compilation, entry, { message: `\`${entry.value}\` could be ${found}` });
  const names = await home.names.workerNames();
  const note =
    didYouMean(entry.value, names) ?? (names.length > 0 ? `the workers: ${quoteNames(names.slice(0, 10))}` : undefined);
  return refuse(compilation, entry, { message: `there is no worker \`${entry.value}\``, note });
}

/** `tools.ts:main`, relative to the program. */
async function findCode(compilation: Compilation, entry: Spanned<string>): Promise<LocatedEntry | undefined> {
  const { host, root, home, files } = compilation;
  const colon = entry.value.lastIndexOf(":");
  const { source, start } = entry.span;
  const file = entry.value.slice(0, colon);
  const name = entry.value.slice(colon + 1);
  const path = resolve(root, file);
  const isThere = (await host.files.kind(path)) === "file" && isWithin(path, root) && (await files.isConfined(path, home));
  if (!isThere) return refuse(compilation, entry, { message: `there is no file \`${file}\` in the program` });
  const from = source.text.startsWith(entry.value, start) ? start + colon + 1 : start;
  return { kind: "code", path, name: { value: name, span: { source, start: from, end: entry.span.end } } };
}

function flagged(flag: string, value: string): Spanned<string> {
  return { value, span: wholeOf(createFlagSource(flag, value)) };
}

function refuse(
  { diagnostics }: Compilation,
  { span }: Spanned<string>,
  { message, note }: { message: string; note?: string | undefined },
): undefined {
  return diagnostics.report("entry-not-found", { message, span, note });
}

/** Links the entry. Undefined, with a diagnostic, if it does not exist or cannot be inspected. */
export async function linkEntry(
  compilation: Compilation,
  entry: LocatedEntry,
  { workers, scopes }: { readonly workers: ReadonlyMap<string, Worker>; readonly scopes: readonly ScopeDeclaration[] },
): Promise<Entry | undefined> {
  if (entry.kind === "code") return linkCode(compilation, entry, scopes);
  const worker = workers.get(entry.path);
  return worker && { kind: "worker", worker };
}

async function linkCode(
  compilation: Compilation,
  { path, name: { value: name, span } }: LocatedEntry & { readonly kind: "code" },
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
    hintAtReentry(compilation, { name, tool: isTool(value) ? value : undefined, span: names.get(name) });
    const execute = (isTool(value) ? value.execute : value) as CodeEntry["execute"];
    return {
      kind: "code",
      code: Object.freeze({ name, input, scopes, replayable: isTool(value) && value.replayable === true, execute }),
    };
  }
  const message = `\`${relative(host.workingDirectory, path)}\` exports no function \`${name}\``;
  return diagnostics.report("entry-not-found", { message, span, note: didYouMean(name, names.keys()) });
}
