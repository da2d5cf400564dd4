import type { ProposedRule } from "../../protocol/approval.ts";
import type { RuleForRun } from "../../protocol/fact.ts";
import { sha256 } from "../../util/sha256.ts";
import { commandArgument } from "./allow-glob.ts";
import { parseRule, type RuledCall, ruleOn } from "./approval-rule.ts";

/** A longer text is no pattern that a person could judge. */
const longestPattern = 120;

/**
 * Returns up to three rules that would allow a call, from narrow to wide, each with how many of the calls that asked so far it covers.
 * `asked` holds the call itself, too.
 */
export function proposeRules(call: RuledCall, worker: string, asked: readonly RuledCall[]): readonly ProposedRule[] {
  const granted = grantsOf(call);
  if (granted === undefined) return [];
  const [first] = call.first;
  const named = granted === "" ? (pattern: string) => pattern : (pattern: string) => `${first}=${pattern}${granted}`;
  const patterns = patternsOf(call).map((pattern) => `${worker}/${call.tool}(${named(pattern)})`);
  const rules = isCommand(call) ? patterns : [...patterns, `${worker}/${call.tool}`];
  const fitting = [...new Set(rules)].filter((rule) => covers(rule, call)).slice(0, 3);
  return fitting.map((rule) => ({ rule, covers: asked.filter((one) => covers(rule, one)).length, of: asked.length }));
}

/** Returns true if a rule of the run allows the call. It is asked only of calls that nobody made to ask. */
export function isAllowedForRun(rules: readonly RuleForRun[], call: RuledCall): boolean {
  return rules.some(({ rule }) => covers(rule, call));
}

/** The rule as it is kept. Throws an `Error` if it cannot be read or does not cover the call that it was given for. */
export function toRuleForRun(rule: string, { worker, call }: { readonly worker: string; readonly call: RuledCall }): RuleForRun {
  parseRule(rule);
  if (!covers(rule, call)) throw new Error(`the rule \`${rule}\` does not cover the call`);
  return { memory: sha256(`rule ${rule}`), worker, tool: call.tool, rule };
}

function covers(rule: string, call: RuledCall): boolean {
  return ruleOn([{ effect: "allow", rule, pattern: parseRule(rule) }], call) !== undefined;
}

/** Names the rights that a call asks for, as the end of a pattern: `, writes=coverage`. Undefined if one has several values. */
function grantsOf({ grants = [], args }: RuledCall): string | undefined {
  const named = grants.map((arg) => {
    const [text, ...others] = args.get(arg) ?? [];
    return typeof text === "string" && others.length === 0 && isPlain(text) ? `, ${arg}=${text}` : undefined;
  });
  return named.some((text) => text === undefined) ? undefined : named.join("");
}

function isCommand({ first }: RuledCall): boolean {
  return first.includes(commandArgument);
}

/** Globs of the first argument: the text itself, and then what has its folder or its first words in common. */
function patternsOf(call: RuledCall): readonly string[] {
  const texts = call.first.flatMap((arg) => call.args.get(arg) ?? []);
  const plain = texts.filter((text) => typeof text === "string").filter(isPlain);
  const [text] = plain;
  if (text === undefined || plain.length < texts.length) return [];
  const exact = plain.every((one) => one === text) ? [text] : [];
  if (isCommand(call)) {
    const words = text.split(" ");
    return [...exact, ...[2, 1].filter((count) => count < words.length).map((count) => `${words.slice(0, count).join(" ")} *`)];
  }
  // An argument's text could lead anywhere, unless its toolset has brought it to one form.
  const isPath = call.first.every((arg) => !call.args.has(arg) || call.canonical?.has(arg));
  const folder = isPath ? /^\S*\//.exec(text)?.[0] : undefined;
  return folder === undefined ? exact : [...exact, `${folder}*`];
}

/** Text that means itself in a rule. */
function isPlain(text: string): boolean {
  return text.length > 0 && text.length <= longestPattern && !/[*?\n]|^\s*\w+=/.test(text);
}
