import type { ShellConfig, ShellRule } from "./config.ts";
import { isLook } from "./effects.ts";

/**
 * Describes what the rules let through, one text a rule. The first rule that matches and gives the effects decides, so a rule names
 * those before it that are stricter and could match the same command: without one of those it lets more through.
 */
export function describeRuleEffects({ rules, default: standard, looks }: ShellConfig): readonly string[] {
  const texts = rules.map((rule, index) => `${describeRule(rule)}${exceptions(rules.slice(0, index), rule)}`);
  const others = standard && { pattern: "*", ...standard };
  const asking = rules.filter(
    (rule) => rule.blocked === true || (isLook(rule) && isStricter(rule, { pattern: "*", approval_required: false })),
  );
  return [
    ...texts.filter((_, index) => rules[index]?.blocked !== true),
    ...(others ? [`any other command${describeRule(others).slice(others.pattern.length)}${exceptions(rules, others)}`] : []),
    ...(looks === "allowed" ? [`whatever changes nothing, without a question${butFor(asking)}`] : []),
  ];
}

function exceptions(before: readonly ShellRule[], rule: ShellRule): string {
  return butFor(before.filter((earlier) => isStricter(earlier, rule) && canOverlap(earlier, rule)));
}

function butFor(rules: readonly ShellRule[]): string {
  return rules.length > 0 ? `, but for ${rules.map(describeTaken).join(", ")}` : "";
}

/** The calls that a rule takes from those behind it. */
function describeTaken(rule: ShellRule): string {
  const bounds = boundsOf.flatMap(([key, describe]) => {
    const value = key === "deny_args" || key === "approval_required_if_args" ? undefined : rule[key];
    return value === undefined ? [] : [describe(textOf(value))];
  });
  return bounds.length === 0 ? rule.pattern : `${rule.pattern} (${bounds.join(", ")})`;
}

/** A question that `_approval_config` lifts is less strict than one that a rule demands. */
function strictness({ approval_required: asks, blocked }: ShellRule): number {
  if (blocked === true) return 3;
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
  const bounds = boundsOf.flatMap(([key, describe]) => (rule[key] === undefined ? [] : [describe(textOf(rule[key]))]));
  return [pattern, asks === false ? "without a question" : standard, ...bounds.filter((text) => text !== "")].join(", ");
}

function textOf(value: readonly string[] | boolean): string {
  return typeof value === "boolean" ? (value ? "yes" : "") : value.join(" ");
}

type Bound = Exclude<keyof ShellRule, "pattern" | "approval_required" | "blocked">;

/** Every key has a text: what is trusted is compared by them. */
const bounds: { readonly [Key in Bound]: (texts: string) => string } = {
  writes: (folders) => (folders === "" ? "" : `writing in ${folders}`),
  opens: (names) => (names === "" ? "" : `opening ${names}`),
  reads: (names) => (names === "" ? "" : `reading ${names}`),
  network: (given) => (given === "" ? "" : "with the network"),
  scratch: (given) => (given === "" ? "" : "writing in layers that are thrown away"),
  unisolated: (given) => (given === "" ? "" : "also where nothing isolates it"),
  sandbox_paths: (paths) => `in ${paths}`,
  deny_args: (denied) => `not with ${denied}`,
  approval_required_if_args: (asking) => `with ${asking} after a question`,
  redirect_paths: (paths) => `output may go to ${paths}`,
};

const boundsOf = Object.entries(bounds) as readonly [Bound, (texts: string) => string][];
