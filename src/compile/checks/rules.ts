import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import { clipText } from "../../util/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/did-you-mean.ts";
import { matchesFlatGlob } from "../../util/flat-glob.ts";
import type { LinkedRule } from "../link-rules.ts";

/** A worker or code that makes calls. `tools` is undefined where not all names are known. */
interface CallingParty {
  readonly names: readonly string[];
  readonly tools: readonly string[] | undefined;
}

interface RuledProgram {
  readonly outline: Outline;
  /** Names that code may call. */
  readonly callables: readonly string[];
  readonly toolArguments: ToolArguments;
}

/** A rule that speaks of no call of the program does nothing, and looks as if it did. */
export function checkRules(
  rules: readonly LinkedRule[],
  { outline, callables, toolArguments }: RuledProgram,
  diagnostics: DiagnosticList,
): void {
  const callers = rules.length === 0 ? [] : callersOf(outline, callables);
  for (const { pattern, written } of rules) {
    const meant = callers.filter(({ names }) => names.some((name) => matchesFlatGlob(pattern.worker, name)));
    const tools = meant.flatMap((caller) => caller.tools ?? []);
    const matching = tools.filter((name) => matchesFlatGlob(pattern.tool, name));
    const isClear = meant.every((caller) => caller.tools !== undefined);
    const report = (unmet: Unmet) => diagnostics.report("approval-rule-unused", unused(unmet, written.span));
    if (meant.length === 0) report({ what: "worker", glob: pattern.worker, names: callers.flatMap(({ names }) => names) });
    else if (isClear && matching.length === 0) report({ what: "tool", glob: pattern.tool, names: tools });
    else if (isClear) for (const unmet of unmetArguments(pattern, matching, toolArguments)) report(unmet);
  }
}

/** Names of arguments that no tool has. Nothing is said where a tool may take any. */
function unmetArguments({ args }: LinkedRule["pattern"], tools: readonly string[], known: ToolArguments): readonly Unmet[] {
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

function callersOf({ entry, workers }: Outline, callables: readonly string[]): CallingParty[] {
  const ofWorkers = workers.map(({ id, name, toolsets }): CallingParty => {
    const tools = toolsets.flatMap((toolset) => toolset.tools);
    const called = toolsets.flatMap((toolset) => toolset.workers ?? []);
    const delegates = workers.flatMap((one) => (called.includes(one.id) ? [one.name] : []));
    const isKnown = toolsets.every(({ kind }) => kind !== "unverified") && !tools.some(({ unverified }) => unverified);
    const byCode = tools.some(({ calls }) => calls !== undefined) ? callables : [];
    return { names: [name, id], tools: isKnown ? [...tools.map((tool) => tool.name), ...delegates, ...byCode] : undefined };
  });
  return entry.kind === "code" ? [...ofWorkers, { names: [entry.name], tools: callables }] : ofWorkers;
}

interface Unmet {
  readonly what: string;
  readonly glob: string;
  readonly names: readonly string[];
  readonly note?: string;
}

function unused({ what, glob, names, note }: Unmet, span: LinkedRule["written"]["span"]) {
  const known = [...new Set(names)].sort();
  const message = `\`${clipText(glob, 60)}\` matches no ${what} that is meant, so the rule does nothing`;
  return { message, span, note: note ?? didYouMean(glob, known) ?? `the ${what}s: ${quoteNames(known) || "none"}` };
}

/** Argument names of a program's tools, by tool name; undefined where a schema allows further names. */
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
