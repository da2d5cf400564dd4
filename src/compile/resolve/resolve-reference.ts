import { basename, relative } from "node:path";
import type { Span, Spanned } from "../../diagnostics/source.ts";
import type { ApprovalSyntax, ToolsetSyntax } from "../../language/worker-file.ts";
import type { ExportedToolset } from "../../toolsets/exported-toolset.ts";
import { exportedToolset } from "../../toolsets/exported-toolset.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";
import { type Home, homeOf } from "../home.ts";
import { nameServers } from "../link/name-servers.ts";
import { findExport, isModuleReference } from "../modules/find-export.ts";
import type { ModuleUse } from "../modules/modules.ts";
import { isSpecifier } from "../modules/packages.ts";
import { findDelegates, type MissingDelegate } from "./find-delegates.ts";
import { resolveCustom } from "./resolve-custom.ts";
import { withoutAnswerers } from "./worker-answerer.ts";
import { resolveWorkerPath } from "./worker-path.ts";

/** A key under `toolsets` with what it means. */
export interface ResolvedReference {
  /** As written, over what a named configuration of the manifest says. */
  readonly syntax: ToolsetSyntax;
  readonly target: ReferenceTarget;
  /** Names under `delegation` that no worker has. */
  readonly missing?: readonly MissingDelegate[];
}

export type ReferenceTarget =
  /** `code`: where it comes from, if it is not built in. `callers`: tools of it whose code calls by name. */
  | (ExportedToolset & {
      readonly kind: "toolset";
      readonly code?: ToolsetCode;
      /** The workers that `delegation` may call. */
      readonly delegates?: readonly Delegate[];
    })
  | { readonly kind: "worker"; readonly path: string; readonly home: Home }
  /** Code that may not be imported yet: the name is there (or may be), its value is unknown. */
  | { readonly kind: "unverified"; readonly name: string };

export interface Delegate {
  readonly name: string;
  /** The path, or glob of paths, that names it in the configuration. Absent: its name does. */
  readonly written?: string;
  readonly path: string;
  readonly home: Home;
}

interface CodeFile {
  readonly path: string;
  readonly home: Home;
}

/** The code of a toolset, with its export where one makes all of it. */
interface ToolsetCode extends CodeFile {
  readonly exported?: Span | undefined;
}

interface Candidate {
  readonly description: string;
  readonly resolve: () => Promise<ReferenceTarget | undefined>;
}

/** Finds what a key under `toolsets` means. Nothing shadows anything: several meanings are an error that lists them. */
export async function resolveReference(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  home: Home,
): Promise<ResolvedReference | undefined> {
  const reference = syntax.use ?? syntax.reference;
  const named = findNamed(compilation, reference, home);
  if (named) compilation.used.add(named.reference);
  const written = named?.use ?? reference;
  const whose = named ? compilation.home : home;
  const isCustom = written.value === "custom" && (await candidatesFor(compilation, written, whose)).length === 0;
  if (isCustom || builtInName(written.value) === "custom")
    return resolveCustom(compilation, named ? mergeToolset(named, syntax) : syntax, whose);
  const target = named
    ? await resolveNamed(compilation, reference, { named, home: whose })
    : await resolveTarget(compilation, written, whose);
  if (!target) return undefined;
  const merged = named ? mergeToolset(named, syntax) : syntax;
  if (target.kind !== "toolset") return { syntax: merged, target };
  const { builtIns } = compilation;
  if (target.toolset === builtIns.get("mcp")) {
    const found = nameServers(compilation, merged, home);
    return found && { syntax: found, target };
  }
  if (target.toolset !== builtIns.get("delegation")) return { syntax: merged, target };
  const { delegates, missing } = await findDelegates(compilation, merged, home);
  return { syntax: merged, target: { ...target, delegates }, missing };
}

/** The manifest's named configuration of this name. Packages have none. */
function findNamed({ manifest }: Compilation, { value }: Spanned<string>, home: Home): ToolsetSyntax | undefined {
  if (home.package !== undefined) return undefined;
  return manifest?.toolsets?.value.find(({ reference }) => reference.value === value);
}

async function resolveNamed(
  compilation: Compilation,
  reference: Spanned<string>,
  { named, home }: { readonly named: ToolsetSyntax; readonly home: Home },
): Promise<ReferenceTarget | undefined> {
  const others = isBareName(reference.value) ? await candidatesFor(compilation, reference, home) : [];
  if (others.length === 0) return resolveTarget(compilation, named.use ?? named.reference, home);
  const description = `the toolset \`${named.reference.value}\` of \`${named.reference.span.source.name}\``;
  return reportAmbiguous(compilation, reference, [description, ...others.map((other) => other.description)]);
}

async function resolveTarget(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<ReferenceTarget | undefined> {
  const { value } = reference;
  if (value.endsWith(".worker")) {
    const found = await resolveWorkerPath(compilation, reference, home);
    return found && { kind: "worker", ...found };
  }
  if (isModuleReference(value)) return resolveModule(compilation, reference, home);
  return resolveName(compilation, reference, home);
}

async function resolveModule(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<ReferenceTarget | undefined> {
  const name = builtInName(reference.value);
  if (name !== undefined) {
    const toolset = compilation.builtIns.get(name);
    return toolset ? { kind: "toolset", toolset, callers: [] } : reportNoBuiltIn(compilation, reference);
  }
  const found = await findExport(compilation, reference, home);
  if (!found) return undefined;
  if (!found.verified) return { kind: "unverified", name: found.name };
  return toTarget(compilation, reference, found);
}

/** `llm-do/toolsets:FilesystemToolset` is `filesystem`. Undefined for references to code. */
function builtInName(reference: string): string | undefined {
  const [, written] = /^llm-do(?:\/toolsets)?:(.*)$/.exec(reference) ?? [];
  const name = written
    ?.replace(/Toolset$/, "")
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")
    .toLowerCase();
  return name === "file_system" ? "filesystem" : name;
}

function reportNoBuiltIn({ builtIns, diagnostics }: Compilation, { value, span }: Spanned<string>): undefined {
  const note = `built in: ${quoteNames([...builtIns.keys(), "custom"])}`;
  return diagnostics.report("unknown-toolset", {
    message: `there is no built-in toolset \`${clipText(value, 80)}\``,
    span,
    note,
  });
}

async function resolveName(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<ReferenceTarget | undefined> {
  const candidates = await candidatesFor(compilation, reference, home);
  const [only, ...others] = candidates;
  if (!only) return reportUnknown(compilation, reference, home);
  if (others.length === 0) return only.resolve();
  const meanings = candidates.map(({ description }) => description);
  return reportAmbiguous(compilation, reference, meanings);
}

async function candidatesFor(compilation: Compilation, reference: Spanned<string>, home: Home): Promise<Candidate[]> {
  const { host, builtIns } = compilation;
  const name = reference.value;
  const show = (path: string): string => `\`${relative(host.workingDirectory, path)}\``;
  const toolset = builtIns.get(name);
  const builtIn: Candidate[] = toolset
    ? [{ description: `the built-in toolset \`${name}\``, resolve: async () => ({ kind: "toolset", toolset, callers: [] }) }]
    : [];
  const places = (await home.names.workerPaths(name)).map((path) => ({ path, home: homeOf(path, home) }));
  const workers = places.map((place) => ({
    description: `the worker ${show(place.path)}`,
    resolve: async () => ({ kind: "worker" as const, ...place }),
  }));
  const exporting = (await modulesOf(compilation, { home, from: reference.span }, name)).filter(({ names }) => names.has(name));
  const exported = await withoutAnswerers(
    compilation,
    places,
    exporting.map(({ path }) => ({ path, name })),
  );
  const exports = exported.map(({ path }) => ({
    description: `the export of ${show(path)}`,
    resolve: () => resolveExport(compilation, reference, { path, home }),
  }));
  return [...builtIn, ...workers, ...exports];
}

async function modulesOf({ modules }: Compilation, use: ModuleUse, name?: string) {
  return Promise.all((await use.home.names.codeFiles(name)).map((path) => modules.exports(path, use)));
}

async function resolveExport(
  compilation: Compilation,
  reference: Spanned<string>,
  { path, home }: CodeFile,
): Promise<ReferenceTarget | undefined> {
  const { modules } = compilation;
  const name = reference.value;
  const values = await modules.values(path, { home, from: reference.span });
  if (values) return toTarget(compilation, reference, { path, home, name, value: values.get(name) });
  return modules.trusted ? undefined : { kind: "unverified", name };
}

async function toTarget(
  { diagnostics, modules }: Compilation,
  { span }: Spanned<string>,
  { path, home, name, value }: CodeFile & { readonly name: string; readonly value: unknown },
): Promise<ReferenceTarget | undefined> {
  const exported = (await modules.exports(path, { home })).names.get(name);
  try {
    const found = await exportedToolset(name, value);
    if (found) return { kind: "toolset", ...found, code: { path, home, exported } };
    const message = `the export \`${name}\` is neither a tool nor a toolset`;
    const note = `write \`export const ${name} = tool({ input: …, run: … })\``;
    const notes = exported ? [{ message: "it is exported here", span: exported }] : [];
    diagnostics.report("toolset-not-one", { message, span, notes, note });
  } catch (thrown) {
    const { message, ...place } = await modules.locate(thrown, { home, from: span });
    diagnostics.report("toolset-not-one", { message: `the export \`${name}\` does not make a toolset: ${message}`, ...place });
  }
  return undefined;
}

function reportAmbiguous({ diagnostics }: Compilation, { value, span }: Spanned<string>, meanings: readonly string[]): undefined {
  const message = `\`${value}\` could be ${meanings.join(" or ")}`;
  return diagnostics.report("ambiguous-toolset", { message, span, note: "rename one of them" });
}

async function reportUnknown(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<ReferenceTarget | undefined> {
  const { diagnostics, modules } = compilation;
  const code = await modulesOf(compilation, { home });
  if (code.some(({ failed }) => failed)) return undefined;
  const { value: name, span } = reference;
  if (!modules.trusted && code.some(({ complete }) => !complete)) return { kind: "unverified", name };
  const shown = clipText(name, 80);
  const near = getOwn(olderToolsets, name) ?? didYouMean(name, await knownNames(compilation, home));
  const note = (await noteOnCode(compilation, name, home)) ?? near ?? helpFor(compilation, shown);
  const message = `there is no toolset, worker or tool \`${shown}\``;
  return diagnostics.report("unknown-toolset", { message, span, note });
}

/** Notes code that has the name, and does not export it; or code in a file that nothing is named after. */
async function noteOnCode({ host, files }: Compilation, name: string, home: Home): Promise<string | undefined> {
  const paths = await home.names.codeFiles();
  for (const path of paths) {
    const { text = "" } = (await files.read(path, { home })) ?? {};
    const isDeclared =
      isBareName(name) && new RegExp(`\\b(?:const|let|var|function|class)\\s+${name.replaceAll("$", "\\$")}\\b`).test(text);
    if (isDeclared) return `\`${basename(path)}\` has \`${name}\`, and does not export it: write \`export\` before it`;
    if (/^export default\b/m.test(text))
      return `\`${basename(path)}\` has a default export, which has no name: write \`export const ${name} = …\``;
  }
  const other =
    paths.length > 0 ? undefined : (await host.files.names(home.folder)).find((one) => /^tools?\.[cm]?[jt]sx?$/i.test(one));
  if (other === undefined) return undefined;
  // Workers in code, and a program that is a list of files, have no other files than those that are named.
  if (/^tools\.(?:ts|js|mjs)$/.test(other))
    return `\`${other}\` is no file of this program: name it in \`files\` (in code), or run its folder`;
  return `\`${other}\` is not read for names: rename it to \`tools.ts\``;
}

/** Toolsets of older programs. */
const olderToolsets: Readonly<Record<string, string>> = {
  worker_call: "workers are called with `delegation: { allow_workers: [worker_name] }`, or by their names: `worker_name: {}`",
  worker_create: "workers are created with `dynamic_workers: {}`",
  sandbox: "files are reached with `filesystem`; the folders are declared under `sandbox.paths`",
  file_tools: "files are reached with `filesystem: {}`",
  files: "files are reached with `filesystem: {}`",
};

function helpFor({ builtIns }: Compilation, name: string): string {
  if (!isBareName(name) && isSpecifier(name)) return `a package is named with what it exports: \`${name}:NAME\``;
  if (!isBareName(name)) return "a file is referred to as `./x.worker` or `./file.ts:Export`, a package as `package:Export`";
  return `built in: ${quoteNames(builtIns.keys())}; a worker is \`${name}.worker\`, a tool an export of \`tools.ts\``;
}

function isBareName(name: string): boolean {
  return /^[A-Za-z_$][\w$-]*$/.test(name);
}

async function knownNames(compilation: Compilation, home: Home): Promise<string[]> {
  const named = compilation.manifest?.toolsets?.value.map(({ reference }) => reference.value) ?? [];
  const exported = (await modulesOf(compilation, { home })).flatMap(({ names }) => [...names.keys()]);
  return [...compilation.builtIns.keys(), ...named, ...(await home.names.workerNames()), ...exported];
}

/** A named configuration of the manifest with what a worker that names it says over it, key by key and tool by tool. */
function mergeToolset(named: ToolsetSyntax, own: ToolsetSyntax): ToolsetSyntax {
  const keys = Object.keys(own.config.value);
  const isOwn = (path: string): boolean => keys.some((key) => path === key || path.startsWith(`${key}.`));
  const inherited = [...named.configSpans].filter(([path]) => !isOwn(path));
  const prefix = own.prefix ?? named.prefix;
  const approvals = mergeApprovals(named.approvals, own.approvals);
  return {
    reference: own.reference,
    config: { value: { ...named.config.value, ...own.config.value }, span: own.config.span },
    configSpans: new Map<string, Span>([...inherited, ...own.configSpans]),
    ...(approvals && { approvals }),
    ...(prefix && { prefix }),
    ...(own.use && { use: own.use }),
  };
}

function mergeApprovals(
  named: Spanned<readonly ApprovalSyntax[]> | undefined,
  own: Spanned<readonly ApprovalSyntax[]> | undefined,
): Spanned<readonly ApprovalSyntax[]> | undefined {
  if (!named || !own) return own ?? named;
  const tools = new Set(own.value.map(({ tool }) => tool.value));
  return { value: [...named.value.filter(({ tool }) => !tools.has(tool.value)), ...own.value], span: own.span };
}
