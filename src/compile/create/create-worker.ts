import { join, relative, resolve } from "node:path";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { Source } from "../../diagnostics/source.ts";
import { parseWorkerFile } from "../../language/parse-worker-file.ts";
import { dataOf, printFrontmatter } from "../../language/print-worker-file.ts";
import type { ScopeSyntax, WorkerFile } from "../../language/worker-file.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import type { WorkerReach } from "../../protocol/reach.ts";
import { readResultName } from "../../toolsets/results/read-result.ts";
import { type ToolFailure, toolFailure } from "../../toolsets/toolset.ts";
import { allowedWorkers } from "../../toolsets/workers/delegation.ts";
import type { DraftedWorker, DraftOptions, WorkerMaker, WorkerSpec } from "../../toolsets/workers/worker-toolset.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { quoteNames } from "../../util/text/did-you-mean.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import type { Compilation } from "../compilation.ts";
import { withRecord } from "../generated-workers.ts";
import { linkWorker, type WorkerLinks } from "../link/link-worker.ts";
import { serverWithTool } from "../link/name-servers.ts";
import { abilitiesBeyond } from "../powers/beyond-caller.ts";
import type { Graph } from "../powers/ceiling.ts";
import { outlineWorker, showingOf } from "../powers/outline.ts";
import { growthOfWorker, reachOfWorker } from "../powers/reach.ts";
import type { ResolvedReference } from "../resolve/resolve-reference.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";
import { type NarrowToolset, narrowPowers, withDefaults } from "./narrow-powers.ts";
import { type Creator, configOf, type Powers, powersOf } from "./powers.ts";
import { printDraft } from "./print-draft.ts";

/** The parts of a compiled program that creating workers needs. */
export interface Creation {
  readonly links: () => WorkerLinks;
  /** The calls that are possible in the program. Undefined before it is described. */
  readonly graph: () => Graph | undefined;
}

/** Makes workers for one worker of the program, which is linked when the first is wanted. */
export function createMaker(creation: Creation, resolved: ResolvedWorker): WorkerMaker {
  return {
    draft: (spec, options) => draftWorker(creation, resolved, { spec, ...options }),
    isLocked: (text) => {
      const { file } = parseWorkerFile({ name: resolved.name, text });
      return file?.locked?.value ?? file === undefined;
    },
  };
}

interface Wanted extends DraftOptions {
  readonly spec: WorkerSpec;
}

/** Parses, narrows, prints and links: what is printed is what is linked. */
async function draftWorker(creation: Creation, resolved: ResolvedWorker, wanted: Wanted): Promise<DraftedWorker> {
  const links = creation.links();
  const { compilation } = links;
  const graph = creation.graph();
  const worker = links.workerOf(resolved.path);
  const outlined = graph?.workers.get(worker.id);
  if (!graph || !outlined) throw new Error(`invariant: ${worker.id} creates a worker before it is linked`);
  const creator: Creator = { resolved, worker, outlined };
  const { name, instructions } = wanted.spec;
  await checkName(links, creator, { name, graph });
  const path = join(compilation.generated, name, "worker.worker");
  const file = relative(compilation.root, path).replaceAll("\\", "/");
  const wish = parseSpec(wanted.spec, file);
  const defaults = wanted.defaults && parseSpec({ name, instructions, ...wanted.defaults }, file);
  const { own, powers } = narrowWish(creator, wish, { links, name, defaults });
  const text = printDraft({ compilation, creator, own, powers, path, wish, instructions });
  const source: Source = { name: file, text };
  compilation.files.place(source, path);
  const digest = sha256(text);
  const id = file.replace(/\.worker$/, "") + (wanted.force ? `@${digest.slice(0, 8)}` : "");
  const made = { path, id, name, source, powers, creators: [[worker.name, worker.id], ...(worker.creators ?? [])] };
  const linked = await linkDraft(creation, creator, made);
  const drafted = { name, root: compilation.root, file, text, digest };
  return {
    ...drafted,
    record: linked.record,
    source: { name, digest, worker: () => linked.worker, abilitiesBeyond: linked.beyond },
  };
}

/** Names that mean something in the program are its authors'. Those of created workers are found on disk. */
async function checkName(
  { compilation, workers }: WorkerLinks,
  creator: Creator,
  { name, graph }: { readonly name: string; readonly graph: Graph },
) {
  const { builtIns, home, modules, manifest, generated } = compilation;
  const refuse = (what: string): never => {
    throw toolFailure("invalid_arguments", `\`${name}\` ${what}`, "take another name");
  };
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) refuse("is no name: a letter, then letters, digits, `_` or `-`");
  const { package: ofPackage } = creator.resolved.home;
  if (ofPackage !== undefined) refuse(`cannot be created by a worker of the package \`${ofPackage}\``);
  if (builtIns.has(name)) refuse("is a built-in toolset");
  if (manifest?.toolsets?.value.some(({ reference }) => reference.value === name)) refuse("is a toolset of the manifest");
  const paths = await home.names.workerPaths(name);
  if (paths.some((path) => path !== join(generated, name, "worker.worker"))) refuse("is a worker of this program");
  for (const path of await home.names.codeFiles())
    if ((await modules.exports(path, { home })).names.has(name)) refuse("is an export of this program's code");
  if (name === readResultName) refuse("is a tool of llm-do itself");
  // Rules of a run name a tool: one that is given for it would hold for the worker.
  const tools = [...graph.workers.values()].flatMap(({ id, toolsets }) =>
    toolsets.flatMap(({ kind, tools: own }) => (kind === "worker" && id !== creator.worker.id ? [] : own.map((one) => one.name))),
  );
  if (tools.includes(name)) refuse("is a tool of a worker of this program");
  const server = serverWithTool(name, compilation, workers());
  if (server !== undefined) refuse(`is a name for tools of the MCP server \`${server}\``);
}

/** The keys that a created worker can have. */
const specKeys = [
  ...["description", "model", "model_settings", "input", "output", "attachment_policy"],
  ...["sandbox", "toolsets", "server_side_tools", "limits"],
];

function parseSpec({ name, instructions, ...keys }: WorkerSpec, file: string): WorkerFile {
  if (typeof instructions !== "string" || instructions.trim() === "")
    throw toolFailure("invalid_arguments", `\`${name}\` has no instructions`, "say what it is to do");
  const unknown = Object.keys(keys).filter((key) => !specKeys.includes(key));
  if (unknown.length > 0)
    throw toolFailure(
      "invalid_arguments",
      `a created worker has no ${quoteNames(unknown)}`,
      `it can have ${quoteNames(specKeys)}`,
    );
  const parsed = parseWorkerFile({ name: file, text: printFrontmatter({}, withRoots(keys as JsonObject), instructions) });
  throwErrors(name, parsed.diagnostics);
  if (!parsed.file) throw new Error("invariant: a worker file without errors parses");
  const coded = (["input", "output"] as const).filter((key) => parsed.file?.[key]?.value.kind === "reference");
  const renamed = parsed.file.toolsets?.value.filter(({ use, prefix }) => use || prefix) ?? [];
  if (coded.length > 0)
    throw toolFailure("invalid_arguments", `${quoteNames(coded)} of a created worker is data`, "write its fields");
  if (renamed.length > 0)
    throw toolFailure("invalid_arguments", "`_use` and `_prefix` are the creator's", "leave them out, and name its toolsets");
  return parsed.file;
}

/** A scope of a wish is named, and has the root of its creator's. */
function withRoots(keys: JsonObject): JsonObject {
  const { sandbox } = keys;
  const paths = isRecord(sandbox) ? sandbox["paths"] : undefined;
  if (!isRecord(sandbox) || !isRecord(paths)) return keys;
  const rooted = Object.entries(paths).map(([name, scope]) => [name, isRecord(scope) ? { root: ".", ...scope } : scope]);
  return { ...keys, sandbox: { ...sandbox, paths: Object.fromEntries(rooted) } as JsonObject };
}

function throwErrors(name: string, diagnostics: readonly Diagnostic[]): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0)
    throw refused(
      name,
      errors.map(({ message, notes = [] }) => [message, ...notes.map((note) => note.message)].join("; ")),
    );
}

function refused(name: string, reasons: readonly string[]): ToolFailure {
  return toolFailure(
    "invalid_arguments",
    `the worker \`${name}\` cannot be created:\n${reasons.join("\n")}`,
    "ask for what there is",
  );
}

interface Narrowing {
  readonly links: WorkerLinks;
  readonly name: string;
  /** In place of the manifest's. */
  readonly defaults: WorkerFile | undefined;
}

function narrowWish(creator: Creator, file: WorkerFile, { links, name, defaults: given }: Narrowing) {
  const { compilation } = links;
  const generated = compilation.manifest?.generated_workers?.value;
  const { model } = creator.worker;
  const models = [model?.id, generated?.model?.value].flatMap((id) => id ?? []);
  const own = powersOf(creator);
  const context = { models, narrow: createNarrow(creator) };
  const { show } = showingOf(compilation, []);
  const defaults = given
    ? toPowers(given, () => undefined)
    : toPowers(generated ?? {}, ({ root }) => show(resolve(compilation.files.folderOf(root.span), root.value)));
  const written = file.sandbox?.value.paths?.value.find(({ root }) => root.value !== ".");
  if (written)
    throw refused(name, [`\`sandbox.paths.${written.name.value}.root\`: a scope is the creator's; leave \`root\` out`]);
  const wish = withDefaults(
    own,
    toPowers(file, () => undefined),
    { ...context, defaults },
  );
  const { powers, refused: reasons } = narrowPowers(own, wish, context);
  if (reasons.length > 0) throw refused(name, reasons);
  return { own, powers: { ...powers, toolsets: withoutGlobs(powers, own) } };
}

/** The wish of keys that were parsed. `rootOf` returns the root of the outline that a scope has; undefined: that of its creator's. */
function toPowers(keys: Partial<Pick<WorkerFile, keyof Powers>>, rootOf: (scope: ScopeSyntax) => string | undefined): Powers {
  const { model, model_settings, attachment_policy, sandbox, toolsets, server_side_tools, limits } = keys;
  const wish: Powers = dataOf({ model, model_settings, attachment_policy, sandbox, toolsets, server_side_tools, limits });
  const paths = sandbox?.value.paths?.value.map((scope) => {
    const { root: _, ...rights } = wish.sandbox?.paths?.[scope.name.value] ?? {};
    const root = rootOf(scope);
    return [scope.name.value, root === undefined ? rights : { ...rights, root }];
  });
  return paths ? { ...wish, sandbox: { ...wish.sandbox, paths: Object.fromEntries(paths) } } : wish;
}

/** By the toolset; one that does not compare configurations gives its creator's alone. */
function createNarrow({ worker }: Creator): NarrowToolset {
  return (reference, { own, wish, scopes }) => {
    const found = worker.toolsets.find((one) => one.reference === reference);
    if (found?.toolset.requires?.includes("commands") && scopes.length === 0 && worker.scopes.length > 0)
      return { ok: false, why: "its commands run in scopes; to be had: with a scope of the creator under `sandbox`" };
    if (found?.toolset.narrow) return found.toolset.narrow(own, wish, scopes);
    const isOwn = Object.keys(wish).length === 0 || canonicalJson(wish) === canonicalJson(own);
    return isOwn ? { ok: true, config: own } : { ok: false, why: "its configuration is the creator's; to be had: `{}`" };
  };
}

/** The names that the globs of `delegation` mean now: what is added to the program later is not the created worker's. */
function withoutGlobs({ toolsets = {} }: Powers, own: Powers): NonNullable<Powers["toolsets"]> {
  const entries = Object.entries(toolsets).map(([reference, entry]) => {
    if (!Array.isArray(entry["allow_workers"])) return [reference, entry];
    const known = allowedWorkers(own.toolsets?.[reference] ?? {}).filter((name) => !/[*?]/.test(name));
    const names = allowedWorkers(entry).flatMap((glob) =>
      /[*?]/.test(glob) ? known.filter((name) => matchesFlatGlob(glob, name)) : [glob],
    );
    return [reference, { ...entry, allow_workers: [...new Set(names)] }];
  });
  return Object.fromEntries(entries);
}

interface Draft {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly source: Source;
  readonly powers: Powers;
  readonly creators: readonly (readonly string[])[];
}

/** Links what was printed. Its references mean what they mean to its creator: nothing is looked up. */
async function linkDraft(creation: Creation, creator: Creator, draft: Draft) {
  const { path, id, name, source, creators } = draft;
  const parent = creation.links();
  const { file, diagnostics } = parseWorkerFile(source);
  throwErrors(name, diagnostics);
  if (!file) throw new Error("invariant: what was printed for a created worker is a worker file");
  const references = (file.toolsets?.value ?? []).flatMap(
    (syntax) => toReference(creator.resolved.references, { syntax, draft }) ?? [],
  );
  const { home } = creator.resolved;
  const loaded = { id, name, path, home, isEntry: false, generated: true, creators };
  const compilation: Compilation = { ...parent.compilation, diagnostics: new DiagnosticList() };
  const resolved: ResolvedWorker = { ...loaded, file: withRecord(compilation, file), references };
  let graph: Graph | undefined;
  const child: Creation = { links: () => links, graph: () => graph };
  const workerOf: WorkerLinks["workerOf"] = (wanted) => (wanted === path ? worker : parent.workerOf(wanted));
  const links: WorkerLinks = { ...parent, compilation, workerOf, makerOf: (one) => createMaker(child, one) };
  const worker = await linkWorker(resolved, links);
  throwErrors(name, compilation.diagnostics.toArray());
  const showing = showingOf(compilation, []);
  const outlined = outlineWorker(resolved, worker, showing);
  const known = creation.graph() as Graph;
  graph = { ...known, workers: new Map([...known.workers, [id, outlined]]) };
  const extended = graph;
  const reach = withoutModels(reachOfWorker(outlined, compilation.root));
  // Compares what narrowing allows once more, in the form that it takes at the next start.
  const growth = growthOfWorker(withoutModels(reachOfWorker(creator.outlined, compilation.root)), reach);
  if (growth.length > 0)
    throw refused(
      name,
      growth.map((text) => `it ${text}, which its creator does not`),
    );
  const record = { creators, reach } as unknown as JsonObject;
  return { worker, record, beyond: (caller: string | undefined, callee: string) => abilitiesBeyond(extended, caller, callee) };
}

/** Its model is in its file, or the user's. */
export function withoutModels(reach: WorkerReach): WorkerReach {
  return { ...reach, models: [] };
}

interface Referring {
  readonly syntax: ResolvedReference["syntax"];
  readonly draft: Draft;
}

function toReference(references: readonly ResolvedReference[], { syntax, draft }: Referring): ResolvedReference | undefined {
  const found = references.find((one) => one.syntax.reference.value === syntax.reference.value);
  const entry = draft.powers.toolsets?.[syntax.reference.value];
  if (!found || !entry) throw new Error(`invariant: the creator has no toolset ${syntax.reference.value}`);
  const config = configOf(entry);
  const { approvals: _, ...known } = found.syntax;
  const isOwn = canonicalJson(config) === canonicalJson(known.config.value);
  const configured = isOwn
    ? known
    : { ...known, config: { value: config, span: syntax.config.span }, configSpans: syntax.configSpans };
  const merged = { ...configured, ...(syntax.approvals ? { approvals: syntax.approvals } : {}) };
  const { target } = found;
  if (target.kind !== "toolset" || !target.delegates) return { syntax: merged, target };
  const globs = allowedWorkers(config);
  const delegates = target.delegates.filter((delegate) => globs.some((glob) => matchesFlatGlob(glob, delegate.name)));
  return { syntax: merged, target: { ...target, delegates } };
}
