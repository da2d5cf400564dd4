import type { ApprovalRule, RuleEffect } from "../../protocol/approval.ts";
import type { RuleText } from "../../toolsets/toolset.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { couldMatchFlatGlob, matchesFlatGlob } from "../../util/text/flat-glob.ts";
import { allowsText, commandArgument } from "./allow-glob.ts";

/** A rule that was read: globs in which `*` is any run of characters, slashes included, and `?` is one. See `allowsText`. */
export interface RulePattern {
  /** Glob of the name of the worker (or code) that calls, or of its id. */
  readonly worker: string;
  /** Glob of the tool's name, as a model calls it. */
  readonly tool: string;
  /** All of them have to match. Without a name: the tool's first argument. */
  readonly args: readonly ArgPattern[];
}

export interface ArgPattern {
  readonly name: string | undefined;
  readonly glob: string;
}

export interface ReadRule extends ApprovalRule {
  readonly pattern: RulePattern;
}

/** A call in the form that rules are compared with. */
export interface RuledCall {
  /** The names that the caller goes by. */
  readonly workers: readonly string[];
  readonly tool: string;
  /** The tool's arguments, each with the texts that stand for it. */
  readonly args: ReadonlyMap<string, readonly RuleText[]>;
  /** Arguments that a pattern without a name is compared with: the tool's first, or any where the tool names none. */
  readonly first: readonly string[];
  /** Arguments whose texts are their toolset's: paths in their one form. Default: none. */
  readonly canonical?: ReadonlySet<string>;
  /** Arguments that give it rights: a rule that allows has to name them. Default: none. */
  readonly grants?: readonly string[];
}

export interface Ruling {
  readonly effect: RuleEffect;
  readonly why: string;
}

/**
 * Reads `worker/tool(pattern)`: `write_file`, `main/shell(git log*)`, `write_file(path=reports/*)`. The worker and the
 * pattern may be left out. Throws an `Error` that says what is wrong.
 */
export function parseRule(text: string): RulePattern {
  const [, head = "", inner] = /^([^()]*)(?:\(([\s\S]*)\))?$/.exec(text.trim()) ?? [];
  if (head.trim() === "") throw new Error("a rule is written as `tool`, `worker/tool` or `worker/tool(pattern)`");
  const slash = head.lastIndexOf("/");
  const worker = slash === -1 ? "*" : head.slice(0, slash).trim();
  const tool = head.slice(slash + 1).trim();
  if (worker === "" || tool === "") throw new Error("the worker and the tool around `/` must not be empty; `*` means any");
  if (/\s/.test(worker + tool)) throw new Error("names hold no blanks; a pattern of arguments stands in brackets");
  return { worker, tool, args: inner === undefined ? [] : parseArgs(inner) };
}

export function readRules(rules: readonly ApprovalRule[] = []): readonly ReadRule[] {
  return rules.map((rule) => ({ ...rule, pattern: parseRule(rule.rule) }));
}

/** `git log*`, or `path=reports/*, content=*`: what begins with a name and `=` names an argument. */
function parseArgs(text: string): ArgPattern[] {
  if (text.trim() === "") throw new Error("the brackets are empty; leave them out for any arguments");
  const named = /^\s*([A-Za-z_]\w*)=/.test(text) ? text.split(/,(?=\s*[A-Za-z_]\w*=)/) : undefined;
  if (!named) return [{ name: undefined, glob: text.trim() }];
  return named.map((part) => {
    const at = part.indexOf("=");
    return { name: part.slice(0, at).trim(), glob: part.slice(at + 1).trim() };
  });
}

/** Returns true if a rule concerns a tool of a worker, whatever the arguments. */
export function concerns({ worker, tool }: RulePattern, call: Pick<RuledCall, "workers" | "tool">): boolean {
  return call.workers.some((name) => matchesFlatGlob(worker, name)) && matchesFlatGlob(tool, call.tool);
}

/**
 * The strictest of the rules that match a call under one of its names. To be allowed, every text of an argument has to match; to ask or
 * block, any.
 */
export function ruleOn(rules: readonly ReadRule[], ...calls: readonly RuledCall[]): Ruling | undefined {
  const matching = rules.filter((rule) => calls.some((call) => matches(rule, call)));
  const strictest = matching.toSorted((a, b) => strictness[b.effect] - strictness[a.effect])[0];
  return strictest && { effect: strictest.effect, why: describeRule(strictest) };
}

/**
 * The same for a call of a worker that was created in a run: its creators' rules hold for it, too, and one that allows has to allow each
 * of them. `creators`: the names that each goes by.
 */
export function ruleOnCreated(
  rules: readonly ReadRule[],
  creators: readonly (readonly string[])[],
  ...calls: readonly RuledCall[]
): Ruling | undefined {
  const own = ruleOn(rules, ...calls);
  const inherited = creators.map((workers) => ruleOn(rules, ...calls.map((call) => ({ ...call, workers }))));
  const stated = inherited.filter((ruling) => ruling !== undefined);
  const strictest = [...(own ? [own] : []), ...stated].toSorted((a, b) => strictness[b.effect] - strictness[a.effect])[0];
  const isStated = own !== undefined && stated.length === inherited.length;
  return strictest?.effect === "allow" && !isStated ? undefined : strictest;
}

const strictness: Readonly<Record<RuleEffect, number>> = { allow: 0, ask: 1, block: 2 };

export function describeRule({ effect, rule, source }: ApprovalRule): string {
  return `the rule \`${rule}\`${source === undefined ? "" : ` of ${source}`} ${effect}s`;
}

function matches({ pattern, effect }: ReadRule, call: RuledCall): boolean {
  if (!concerns(pattern, call)) return false;
  const isNamed = (arg: string) => pattern.args.some(({ name }) => name === arg);
  if (effect === "allow" && !(call.grants ?? []).every(isNamed)) return false;
  return pattern.args.every(({ name, glob }) => {
    const args = name === undefined ? call.first : [name];
    const texts = args.flatMap((arg) => (call.args.get(arg) ?? []).map((text) => ({ arg, text })));
    if (effect !== "allow") return texts.some(({ text }) => couldBe(glob, text));
    const sure = texts.filter(({ text }) => typeof text === "string");
    return sure.length > 0 && sure.every(({ arg, text }) => allowsText(glob, text as string, arg === commandArgument));
  });
}

function couldBe(glob: string, text: RuleText): boolean {
  if (typeof text === "string") return matchesFlatGlob(glob, text);
  return text.open === true ? couldMatchFlatGlob(glob, text.text) : matchesFlatGlob(glob, text.text);
}

/** An argument as rules see it where its toolset does not say otherwise. */
export function textOfArgument(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}
