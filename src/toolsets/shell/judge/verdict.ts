import type { ScopeDeclaration, Scopes } from "../../../host/scopes/scopes.ts";
import type { OwnVerdict, RuleText } from "../../toolset.ts";
import type { ShellConfig, ShellRule } from "../config.ts";
import { contains, describeEffects, type Effects, isLook } from "../effects.ts";
import type { ShellPlan, ShellWord, SimpleCommand } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { coversCommand, parsePattern } from "../patterns.ts";
import { comfortsOf, isInPaths, scopeOfFolder } from "./comforts.ts";
import { isBystander } from "./names.ts";
import { type Reason, toVerdict } from "./reasons.ts";
import { anything, textsOfStart } from "./started-texts.ts";
import { findHidden, type Start, startsOf } from "./starts.ts";
import { judgeUnwalled } from "./unwalled.ts";

/** Basis of a verdict: all of it was found out while the call was prepared. */
export interface JudgedCall {
  readonly config: ShellConfig;
  readonly plan: ShellPlan;
  readonly effects: Effects;
  readonly scopes: Pick<Scopes, "resolve" | "covered">;
  /** The scope that `cwd` lies in; folders of the plan are in it. */
  readonly scope: ScopeDeclaration;
  /** Name of the scope in which commands run by default: the one that authors of rules have in mind. */
  readonly home: string | undefined;
  /** Why the command is not isolated. Undefined behind a kernel wall. */
  readonly notIsolated: string | undefined;
  /** The caller of the run accepts that. */
  readonly unisolated: boolean;
  /** Commands that read nothing but regular files of scopes, spelt out. Looked up without a wall alone. */
  readonly plainReads: ReadonlySet<SimpleCommand>;
}

export interface Judgement {
  readonly verdict: OwnVerdict;
  /** Programs that it starts, each with its arguments, as far as that was read. */
  readonly started: readonly RuleText[];
}

/** Pure: the rules, the command as it was read, and the effects that it asks for. */
export function judgeCall(call: JudgedCall): Judgement {
  const { plan } = call;
  const starts = startsOf(plan);
  const hidden = findHidden(plan, starts);
  const started = [...starts.flatMap(textsOfStart), ...(hidden.isOpen ? [anything] : [])];
  if (plan.refused !== undefined) return { verdict: toVerdict([{ level: "blocked", why: plan.refused }], []), started };
  const outcomes = starts.map((start) => judgeStart(call, start));
  const isCovered = outcomes.some(({ allowedBy }) => allowedBy !== undefined);
  const reasons = outcomes.flatMap((outcome) => (outcome.isFreeBeside && isCovered ? [] : outcome.reasons));
  if (starts.length === 0 && !isFreeLook(call)) {
    reasons.push({ level: isLook(call.effects) ? "default" : "effects", why: "it starts no program that a rule could cover" });
  }
  reasons.push(...judgeUnread(call, hidden.reasons));
  if (call.notIsolated !== undefined) reasons.push(...judgeUnwalled(call, outcomes));
  const allowedBy = outcomes.flatMap((outcome) => outcome.allowedBy ?? []);
  return { verdict: toVerdict(reasons, allowedBy), started: withoutRepetitions(started) };
}

function withoutRepetitions(texts: readonly RuleText[]): readonly RuleText[] {
  return [...new Map(texts.map((text) => [JSON.stringify(text), text])).values()];
}

/** Returns whether a call runs whatever it is, unless a rule asks or blocks. */
function isFreeLook({ config, effects, notIsolated }: JudgedCall): boolean {
  return config.looks === "allowed" && isLook(effects) && notIsolated === undefined;
}

/** A line that cannot be taken apart, or written anew, never runs by a rule with effects. */
function judgeUnread(call: JudgedCall, hidden: readonly string[]): readonly Reason[] {
  const { config, plan, effects } = call;
  if (isFreeLook(call)) return [];
  if (plan.uncertain !== undefined && config.default === undefined)
    return [{ level: "uncovered", why: hidden[0] ?? plan.uncertain }];
  if (hidden.length > 0) return hidden.map((why) => ({ level: "rule", why }));
  if (isLook(effects) || plan.script !== undefined) return [];
  const why = plan.findings[0] ?? "it runs as it stands, and not as it was read";
  return [{ level: "effects", why: `${why}, and no rule with effects covers that` }];
}

/** The rules' word on one program. */
export interface Outcome {
  readonly start: Start;
  readonly reasons: readonly Reason[];
  /** The pattern of the rule that allows it. */
  readonly allowedBy?: string;
  readonly rule?: ShellRule;
  /** It needs no rule beside a program that has one. */
  readonly isFreeBeside?: true;
}

function judgeStart(call: JudgedCall, start: Start): Outcome {
  const restrictions = start.others.flatMap((words) => restrictionBy(call, start, words));
  const outcome = judgeByRules(call, start);
  if (!isBystander(start.words) || start.isRedirected || outcome.allowedBy !== undefined) {
    return { ...outcome, reasons: [...restrictions, ...outcome.reasons] };
  }
  const own = restrictionBy(call, start, start.words);
  if (own.length + restrictions.length > 0) return { ...outcome, reasons: [...restrictions, ...own, ...outcome.reasons] };
  return { ...outcome, isFreeBeside: true };
}

/** The rules that are read for a call: those with effects say nothing about looks that are allowed. */
function rulesFor(call: JudgedCall): readonly ShellRule[] {
  const { rules } = call.config;
  return isFreeLook(call) ? rules.filter((rule) => rule.blocked === true || isLook(rule)) : rules;
}

/** What the first rule that matches by name blocks or asks. */
function restrictionBy(call: JudgedCall, start: Start, words: readonly ShellWord[]): readonly Reason[] {
  const rule = rulesFor(call).find((one) => coversCommand(parsePattern(one.pattern), words) && isInPaths(call, one, start));
  if (rule === undefined || (rule.blocked !== true && rule.approval_required === false)) return [];
  return judgeByRule(rule, start).reasons;
}

/** Reads the rules in order: the first that matches and gives the effects decides. One that blocks needs none. */
function judgeByRules(call: JudgedCall, start: Start): Outcome {
  const passed: string[] = [];
  const denied: Reason[] = [];
  let misses: string | undefined;
  for (const rule of rulesFor(call)) {
    if (!coversCommand(parsePattern(rule.pattern), start.words)) continue;
    if (!isInPaths(call, rule, start)) {
      misses = `\`${rule.pattern}\` does not match: not all paths are in its sandbox_paths or redirect_paths`;
      continue;
    }
    if (rule.blocked === true) return { start, reasons: judgeByRule(rule, start).reasons };
    if (contains(rule, call.effects, call.scopes)) {
      const decided = judgeByRule(rule, start);
      return { ...decided, reasons: [...denied, ...decided.reasons, ...judgePlace(call, rule, start)] };
    }
    denied.push(...comfortsOf(rule, start));
    passed.push(`\`${rule.pattern}\` (${describeEffects(rule)})`);
  }
  if (isFreeLook(call)) return { start, reasons: denied };
  if (passed.length === 0) return judgeUncovered(call, start, misses);
  const why = `it ${describeEffects(call.effects)}, and the rules give less: ${[...new Set(passed)].join(", ")}`;
  return { start, reasons: [...denied, { level: "effects", why }] };
}

function judgeByRule(rule: ShellRule, start: Start): Outcome {
  const { pattern, blocked, approval_required: required } = rule;
  if (blocked === true) return { start, reasons: [{ level: "blocked", why: `the rule \`${pattern}\` blocks it` }] };
  const reasons = comfortsOf(rule, start);
  if (required === false) return { start, reasons, allowedBy: pattern, rule };
  const why = required ? `approval_required of the rule \`${pattern}\`` : `the rule \`${pattern}\` asks unless it says otherwise`;
  return { start, reasons: [...reasons, { level: required ? "rule" : "default", why }], rule };
}

/** In another scope the same words start something else, with the effects of the rule. */
function judgePlace(call: JudgedCall, rule: ShellRule, { words, command }: Start): readonly Reason[] {
  if (isLook(call.effects)) return [];
  const scopes = command.folders?.map((folder) => scopeOfFolder(call, folder)) ?? [undefined];
  const other = scopes.find((name) => name !== call.home && !(name !== undefined && rule.sandbox_paths?.includes(name)));
  if (scopes.every((name) => name === call.home || (name !== undefined && rule.sandbox_paths?.includes(name) === true)))
    return [];
  const where = other === undefined ? "where it runs cannot be told" : `it runs in the scope ${other}`;
  const lifts = other === undefined ? "" : `; \`sandbox_paths: [${other}]\` in the rule \`${rule.pattern}\` allows that`;
  return [{ level: "effects", why: `${nameWord(words[0])}: ${where}${lifts}` }];
}

const mostListed = 20;

function judgeUncovered({ config, effects, scopes }: JudgedCall, start: Start, misses: string | undefined): Outcome {
  const name = nameWord(start.words[0]);
  const { default: standard, rules } = config;
  if (standard === undefined) {
    const patterns = [...new Set(rules.map(({ pattern }) => `\`${pattern}\``))];
    const more = patterns.length > mostListed ? `, and ${patterns.length - mostListed} more` : "";
    const listed = patterns.length === 0 ? "there are no rules" : `rules: ${patterns.slice(0, mostListed).join(", ")}${more}`;
    return { start, reasons: [{ level: "uncovered", why: `no rule covers ${name} (${misses ?? listed})` }] };
  }
  if (standard.approval_required) {
    return { start, reasons: [{ level: "rule", why: `no rule covers ${name}, and the default asks` }] };
  }
  if (contains(standard, effects, scopes)) return { start, reasons: [], allowedBy: "default" };
  const why = `no rule covers ${name}; it ${describeEffects(effects)}, and the default ${describeEffects(standard)}`;
  return { start, reasons: [{ level: "effects", why }] };
}
