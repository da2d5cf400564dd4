import type { RulePattern } from "../../approval/rules/approval-rule.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { couldMatchFlatGlob, matchesFlatGlob } from "../../util/text/flat-glob.ts";
import type { LinkedMention, LinkedRule } from "../link/link-rules.ts";

/** A worker or code that makes calls. `tools` is undefined if not all names are known. */
interface CallingParty {
  readonly names: readonly string[];
  readonly tools: readonly string[] | undefined;
  /** Names of its tools whose argument `path` begins with one of its `scopes`. */
  readonly fileTools: readonly string[];
  readonly scopes: readonly string[];
}

export interface RuledProgram {
  readonly outline: Outline;
  readonly workers: readonly Worker[];
  /** Names that code may call. */
  readonly callables: readonly string[];
  readonly toolArguments: ToolArguments;
  /** Names of all tools that come with llm-do: a test may say that one is never called. */
  readonly builtInTools: ReadonlySet<string>;
}

/** A rule that speaks of no call of the program does nothing, and looks as if it did. */
export function checkRules(rules: readonly LinkedRule[], program: RuledProgram, diagnostics: DiagnosticList): void {
  const callers = rules.length === 0 ? [] : callersOf(program);
  for (const { pattern, written } of rules)
    for (const unmet of unmetParts(pattern, callers, program))
      diagnostics.report("approval-rule-unused", unused(unmet, "so the rule does nothing", written.span));
}

/** An expectation about a tool that is none always holds, or never does. */
export function checkMentions(mentions: readonly LinkedMention[], program: RuledProgram, diagnostics: DiagnosticList): void {
  const callers = mentions.length === 0 ? [] : callersOf(program);
  for (const { pattern, written, isRule } of mentions) {
    const consequence = isRule ? "so the rule approves nothing" : "so nothing is tested";
    const isBuiltIn = !isRule && program.builtInTools.has(pattern.tool);
    for (const unmet of unmetParts(pattern, callers, program))
      if (unmet.what !== "tool" || !isBuiltIn)
        diagnostics.report("approval-rule-unused", unused(unmet, consequence, written.span));
  }
}

/** The parts of a pattern that no call of the program can match. Nothing is reported where tools are not all known. */
function unmetParts(pattern: RulePattern, callers: readonly CallingParty[], { toolArguments }: RuledProgram): readonly Unmet[] {
  const meant = callers.filter(({ names }) => names.some((name) => matchesFlatGlob(pattern.worker, name)));
  if (meant.length === 0) {
    // A worker that is made in the run has a name that nobody knows yet.
    const isOpen = callers.some(({ tools }) => tools?.includes(workerCreate));
    return isOpen ? [] : [{ what: "worker", glob: pattern.worker, names: callers.flatMap(({ names }) => names) }];
  }
  if (meant.some(({ tools }) => tools === undefined)) return [];
  const tools = meant.flatMap((caller) => caller.tools ?? []);
  const matching = tools.filter((name) => matchesFlatGlob(pattern.tool, name));
  if (matching.length === 0) return [{ what: "tool", glob: pattern.tool, names: tools }];
  return [...unmetArguments(pattern, matching, toolArguments), ...unmetPaths(pattern, meant, matching)];
}

/** Paths that begin with no scope, where a pattern speaks of file tools alone. */
function unmetPaths({ args }: RulePattern, meant: readonly CallingParty[], tools: readonly string[]): readonly Unmet[] {
  const fileTools = new Set(meant.flatMap((caller) => caller.fileTools));
  if (!tools.every((name) => fileTools.has(name))) return [];
  const scopes = [...new Set(meant.flatMap((caller) => (caller.fileTools.length > 0 ? caller.scopes : [])))];
  const couldBe = (glob: string) =>
    glob === "." ||
    scopes.some((scope) => scope === "." || matchesFlatGlob(glob, scope) || couldMatchFlatGlob(glob, `${scope}/`));
  return args.flatMap(({ name, glob }) => {
    if ((name !== undefined && name !== "path") || couldBe(glob)) return [];
    const [scope = "SCOPE"] = scopes;
    const note = `a path begins with the name of a scope: \`${scope}/${clipText(glob, 60)}\``;
    return [{ what: "path", glob, names: scopes, note }];
  });
}

/** Names of arguments that no tool has. Nothing is said where a tool may take any. */
function unmetArguments({ args }: RulePattern, tools: readonly string[], known: ToolArguments): readonly Unmet[] {
  const taken = tools.map((name) => known.get(name));
  if (taken.includes(undefined)) return [];
  const names = taken.flatMap((some) => some ?? []);
  return args.flatMap(({ name, glob }) => {
    const [, word = ""] = /^(\w+)\s*:/.exec(name === undefined ? glob : "") ?? [];
    const isMeant = names.includes(word);
    if (name === undefined ? !isMeant : names.includes(name)) return [];
    return [
      { what: "argument", glob: name ?? glob, names, ...(isMeant ? { note: `write \`${glob.replace(/\s*:\s*/, "=")}\`` } : {}) },
    ];
  });
}

/** The tool of `dynamic_workers`. */
const workerCreate = "worker_create";

function callersOf({ outline: { entry, workers }, workers: linked, callables }: RuledProgram): CallingParty[] {
  const fileTools = new Map(linked.map((worker) => [worker.id, fileToolsOf(worker)]));
  const ofWorkers = workers.map(({ id, name, toolsets, scopes }): CallingParty => {
    const tools = toolsets.flatMap((toolset) => toolset.tools);
    const called = toolsets.flatMap((toolset) => toolset.workers ?? []);
    const delegates = workers.flatMap((one) => (called.includes(one.id) ? [one.name] : []));
    const isKnown = toolsets.every(({ kind }) => kind !== "unverified") && !tools.some(({ unverified }) => unverified);
    const byCode = tools.some(({ calls }) => calls !== undefined) ? callables : [];
    return {
      names: [name, id],
      tools: isKnown ? [...tools.map((tool) => tool.name), ...delegates, ...byCode] : undefined,
      fileTools: fileTools.get(id) ?? [],
      scopes: scopes.map((scope) => scope.name),
    };
  });
  return entry.kind === "code" ? [...ofWorkers, { names: [entry.name], tools: callables, fileTools: [], scopes: [] }] : ofWorkers;
}

function fileToolsOf({ toolsets }: Worker): readonly string[] {
  const ofFiles = toolsets.filter(({ toolset }) => toolset.requires?.includes("scopes"));
  return ofFiles.flatMap(({ tools, prefix }) => tools.map(({ name }) => toolName(prefix, name)));
}

interface Unmet {
  readonly what: string;
  readonly glob: string;
  readonly names: readonly string[];
  readonly note?: string;
}

function unused({ what, glob, names, note }: Unmet, consequence: string, span: LinkedRule["written"]["span"]) {
  const known = [...new Set(names)].sort();
  const message = `\`${clipText(glob, 60)}\` matches no ${what} that is meant, ${consequence}`;
  return { message, span, note: note ?? didYouMean(glob, known) ?? `the ${what}s: ${quoteNames(known) || "none"}` };
}

/** Argument names of a program's tools, by tool name; undefined if a schema allows further names. */
export type ToolArguments = ReadonlyMap<string, readonly string[] | undefined>;

export function argumentsOfTools(workers: Iterable<Worker>, callables: ReadonlyMap<string, ToolsetReference>): ToolArguments {
  const found = new Map<string, readonly string[] | undefined>();
  const add = (name: string, schema: JsonSchema, more: readonly string[] = []) => {
    const names = namesOf(schema);
    const known = found.has(name) ? found.get(name) : [];
    found.set(name, names && known && [...known, ...names, ...more]);
  };
  for (const worker of workers) {
    for (const reference of worker.toolsets) {
      const { tools, prefix, delegates } = reference;
      for (const tool of tools) add(toolName(prefix, tool.name), tool.input.jsonSchema);
      for (const [name, { input }] of delegates?.() ?? []) add(name, input.jsonSchema, ["extra_context"]);
    }
  }
  for (const [name, { tools, worker }] of callables)
    for (const tool of tools) add(name, tool.input.jsonSchema, worker ? ["extra_context"] : []);
  return found;
}

function namesOf({ properties, additionalProperties }: JsonSchema): readonly string[] | undefined {
  return isRecord(properties) && additionalProperties === false ? Object.keys(properties) : undefined;
}
