import type { ToolsetScope } from "../toolset.ts";
import type { ShellConfig, ShellRule } from "./config.ts";
import { includesPattern, parsePattern } from "./patterns.ts";

/**
 * Describes what the rules let through, one text a rule. The first rule that matches decides, so a rule names those before it
 * that could match the same command and let less through: without one of those it lets more through. One that also allows does not
 * match where its scopes have fewer rights or suffixes, so these are named with it.
 */
export function describeRuleEffects({ rules, default: standard }: ShellConfig, scope: Rights): readonly string[] {
  const texts = rules.map((rule, index) => `${describeRule(rule)}${exceptions(rules.slice(0, index), rule, scope)}`);
  if (!standard) return texts;
  const others = { pattern: "*", ...standard };
  return [
    ...texts,
    `any other command, ${standard.approval_required ? "after" : "without"} a question${exceptions(rules, others, scope)}`,
  ];
}

type Rights = Pick<ToolsetScope, "writable" | "suffixes">;

function exceptions(before: readonly ShellRule[], rule: ShellRule, scope: Rights): string {
  const taken = before.filter(
    (earlier) => (isStricter(earlier, rule) || letsLessThrough(earlier, rule)) && canOverlap(earlier, rule),
  );
  return taken.length > 0 ? `, but for ${taken.map((one) => `${one.pattern}${describePlace(one, scope)}`).join(", ")}` : "";
}

/** A rule that only asks matches whatever the rights of its scopes are. */
function describePlace(rule: ShellRule, { writable, suffixes }: Rights): string {
  const { sandbox_paths: paths, approval_required: asks, deny_args: denied, approval_required_if_args: asking } = rule;
  if (!paths || (asks !== false && denied === undefined && asking === undefined)) return "";
  const places = paths.map((name) => {
    const rights = [writable.includes(name) ? "rw" : "ro", ...(suffixes?.get(name)?.toSorted() ?? [])];
    return `${name} (${rights.join(" ")})`;
  });
  return ` in ${places.join(", ")}`;
}

/** Takes commands from a later rule that would let more of them through: arguments that it spells out, or paths of the output. */
function letsLessThrough(earlier: ShellRule, rule: ShellRule): boolean {
  if (rule.approval_required === true) return false;
  const [program = "", ...tokens] = parsePattern(earlier.pattern);
  const pattern = parsePattern(rule.pattern);
  const takesSpelt = tokens.some((token) => token.includes("*")) || includesPattern([program, ...tokens], pattern);
  const spelt = pattern.slice(1).filter((token) => !token.includes("*") && !tokens.includes(token));
  const paths = (rule.redirect_paths ?? []).filter((path) => earlier.redirect_paths?.includes(path) !== true);
  return (takesSpelt && spelt.length > 0) || paths.length > 0;
}

/** A question that `_approval_config` lifts is less strict than one that a rule demands. */
function strictness({ approval_required: asks }: ShellRule): number {
  if (asks === undefined) return 1;
  return asks ? 2 : 0;
}

function isStricter(earlier: ShellRule, rule: ShellRule): boolean {
  return (
    strictness(earlier) > strictness(rule) || earlier.deny_args !== undefined || earlier.approval_required_if_args !== undefined
  );
}

function canOverlap(a: ShellRule, b: ShellRule): boolean {
  const [first, second] = [a, b].map(({ pattern }) => pattern.trim().split(/\s+/)[0] ?? "");
  return first === second || [first, second].some((program) => program?.includes("*"));
}

function describeRule(rule: ShellRule): string {
  const { pattern, approval_required: asks } = rule;
  const standard = asks === undefined ? "after a question unless pre-approved" : "after a question";
  const bounds = boundsOf.flatMap(([key, describe]) => {
    const texts = rule[key];
    return texts ? [describe(texts.join(" "))] : [];
  });
  return [pattern, asks === false ? "without a question" : standard, ...bounds].join(", ");
}

type Bound = Exclude<keyof ShellRule, "pattern" | "approval_required">;

/** Every key has a text: what is trusted is compared by them. */
const bounds: { readonly [Key in Bound]: (texts: string) => string } = {
  sandbox_paths: (paths) => `in ${paths}`,
  deny_args: (denied) => `not with ${denied}`,
  approval_required_if_args: (asking) => `with ${asking} after a question`,
  redirect_paths: (paths) => `output may go to ${paths}`,
};

const boundsOf = Object.entries(bounds) as readonly [Bound, (texts: string) => string][];
