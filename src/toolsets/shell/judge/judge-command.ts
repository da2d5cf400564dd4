import type { RuleText } from "../../toolset.ts";
import type { ShellConfig, ShellRule } from "../config.ts";
import { flowAfter } from "../parse/folders.ts";
import type { ShellPlan, ShellWord, SimpleCommand } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { coversCommand, matchesArgument, parsePattern, spellsOut } from "../patterns.ts";
import type { ProgramReading } from "../programs/program.ts";
import { fearsOptions, readStart } from "../programs/registry.ts";
import { findOutside, judgePaths, judgeRedirect, type PathWork } from "./judge-paths.ts";
import { type PathTable, whereIs } from "./path-table.ts";
import { asks, type Reason } from "./reasons.ts";
import { addText, anything, beginningOf, textsOf } from "./started-texts.ts";

/** All that a judgement rests on. */
export interface JudgeContext {
  readonly config: ShellConfig;
  readonly table: PathTable;
  /** Gathers the rules that allowed something. */
  readonly allowedBy: Set<string>;
  /** Gathers every program that the line starts, with its arguments, as one would write it, and what it may start. */
  readonly started: Map<string, RuleText>;
  /** Gathers protected names that the command needs: a person is asked, or a rule spells out what writes them. */
  readonly opens: Set<string>;
  /** Gathers those that are opened only where somebody is asked, whatever is pre-approved. */
  readonly opensIfAsked: Set<string>;
  /** Gathers programs of the line that could write such names too, once they are open. */
  readonly strangers: Set<string>;
  readonly depth: number;
  /** How many programs may still be looked at. */
  readonly budget: { left: number };
}

/** A line with more programs in it than this, those that others start included, is never allowed. */
export const mostPrograms = 500;
const deepest = 6;

/** A whole command line, or a script inside one: the sum of its parts. */
export function judgePlan(context: JudgeContext, plan: ShellPlan): readonly Reason[] {
  if (plan.refused !== undefined) return [{ level: "blocked", why: plan.refused }];
  const reasons: Reason[] = plan.findings.map(asks);
  if (plan.uncertain !== undefined) {
    addText(context.started, anything);
    reasons.push(judgeUncertain(context, plan.uncertain));
  }
  return [...reasons, ...plan.commands.flatMap((command) => judgeCommand(context, command))];
}

/** Never allowed; where there is a default, a person may look. */
function judgeUncertain({ config }: JudgeContext, why: string): Reason {
  return config.default === undefined
    ? { level: "uncovered", why: `the command cannot be read with certainty: ${why}` }
    : asks(`the command cannot be read with certainty: ${why}`);
}

export function judgeCommand(context: JudgeContext, command: SimpleCommand): readonly Reason[] {
  const reasons: Reason[] = [];
  if (command.assignments.length > 0) reasons.push(asks(`it sets ${command.assignments.join(", ")}`));
  if (command.folders === undefined) reasons.push(asks("where a part of it runs cannot be told"));
  const [program] = command.words;
  if (program === undefined) return [...judgeRedirects(context, command, undefined), ...reasons];
  for (const text of textsOf(command.words)) addText(context.started, text);
  const isTooMuch = --context.budget.left < 0;
  if (isTooMuch || context.depth > deepest) {
    addText(context.started, anything);
    return [...reasons, asks(isTooMuch ? "it starts too many programs" : "it starts programs in programs in programs")];
  }
  const reading = readStart(command);
  if (reading.startsUnknown === true) addText(context.started, anything);
  const others = new Set((reading.inner ?? []).flatMap(({ words }) => words));
  const work: PathWork = { table: context.table, opens: context.opens, command, reading, others };
  for (const name of reading.opens ?? []) context.opens.add(name);
  for (const name of reading.opensIfAsked ?? []) context.opensIfAsked.add(name);
  const couldWrite = reading.effect === "unknown" || reading.effect === "write";
  if (couldWrite && reading.opens === undefined) context.strangers.add(nameWord(program));
  const { rule, reasons: ofRules } = judgeByRules(context, work);
  return [
    ...judgeRedirects(context, command, rule),
    ...reasons,
    ...ofRules,
    ...judgeHatches(rule, program, reading),
    ...judgeUnknowns(program, work),
    ...judgePaths(work),
    ...judgeMove(context, command),
    ...judgeInner(context, command, reading),
  ];
}

function judgeRedirects(context: JudgeContext, command: SimpleCommand, rule: ShellRule | undefined): readonly Reason[] {
  const work = { ...context, command, allowed: rule?.redirect_paths ?? [] };
  return command.redirects.flatMap((redirect) => judgeRedirect(work, redirect));
}

interface RuleJudgement {
  readonly rule: ShellRule | undefined;
  readonly reasons: readonly Reason[];
}

function judgeByRules(context: JudgeContext, work: PathWork): RuleJudgement {
  const { rules } = context.config;
  const { words } = work.command;
  const passed: string[] = [];
  for (const rule of rules) {
    if (!coversCommand(parsePattern(rule.pattern), words)) continue;
    const outside = rule.sandbox_paths === undefined ? undefined : findOutside(work, rule.sandbox_paths);
    if (outside === undefined) return { rule, reasons: judgeRule(context, rule, words) };
    passed.push(`\`${rule.pattern}\` does not match, because ${outside} is not in its sandbox_paths`);
  }
  return { rule: undefined, reasons: judgeUncovered(context.config, words[0], passed) };
}

function judgeRule(context: JudgeContext, rule: ShellRule, words: readonly ShellWord[]): readonly Reason[] {
  const { pattern, approval_required: required, deny_args = [], approval_required_if_args: ifArgs = [] } = rule;
  const args = words.slice(1);
  const denied = args.find((word) => deny_args.some((glob) => matchesArgument(glob, word)));
  if (denied !== undefined) return [{ level: "blocked", why: `deny_args of the rule \`${pattern}\` has ${nameWord(denied)}` }];
  const reasons: Reason[] = [];
  const asked = args.find((word) => ifArgs.some((glob) => matchesArgument(glob, word)));
  if (asked !== undefined) reasons.push(asks(`approval_required_if_args of the rule \`${pattern}\` has ${nameWord(asked)}`));
  const isUnclear = (deny_args.length > 0 || ifArgs.length > 0) && args.some(({ kind }) => kind !== "static");
  if (isUnclear) reasons.push(asks(`the rule \`${pattern}\` looks at arguments, and not all of them are known`));
  if (required === true) reasons.push(asks(`approval_required of the rule \`${pattern}\``));
  else if (required === undefined)
    reasons.push({ level: "default", why: `the rule \`${pattern}\` asks unless it says otherwise` });
  else context.allowedBy.add(pattern);
  return reasons;
}

function judgeUncovered(config: ShellConfig, program: ShellWord | undefined, passed: readonly string[]): readonly Reason[] {
  const name = program === undefined ? "this" : nameWord(program);
  if (config.default?.approval_required === true) return [asks(`no rule covers ${name}, and the default asks`)];
  if (config.default !== undefined) return [];
  const rules = passed.length > 0 ? passed.join("; ") : listRules(config);
  const hint = program?.value === "cd" ? "; use the argument cwd instead" : "";
  return [{ level: "uncovered", why: `no rule covers ${name} (${rules})${hint}` }];
}

const mostListed = 20;

function listRules({ rules }: ShellConfig): string {
  const patterns = [...new Set(rules.map(({ pattern }) => `\`${pattern}\``))];
  if (patterns.length === 0) return "there are no rules";
  const more = patterns.length > mostListed ? `, and ${patterns.length - mostListed} more` : "";
  return `rules: ${patterns.slice(0, mostListed).join(", ")}${more}`;
}

function judgeHatches(rule: ShellRule | undefined, program: ShellWord, { hatches }: ProgramReading): readonly Reason[] {
  const pattern = rule === undefined ? [] : parsePattern(rule.pattern);
  return hatches
    .filter(({ unlessSpelt }) => unlessSpelt === undefined || !spellsOut(pattern, unlessSpelt))
    .map(({ why }) => asks(`${nameWord(program)}: ${why}`));
}

/** Words that only the shell knows, where they could be anything. */
function judgeUnknowns(program: ShellWord, { command, reading, others }: PathWork): readonly Reason[] {
  const reasons: Reason[] =
    program.kind === "static" ? [] : [asks(`what ${nameWord(program)} starts is known to the shell alone`)];
  if (reading.takesAnything === true) return reasons;
  let ended = false;
  for (const word of command.words.slice(1)) {
    if (others.has(word)) continue;
    ended ||= word.kind === "static" && word.value === "--";
    if (word.kind === "variable") reasons.push(asks(`what ${nameWord(word)} means is known to the shell alone`));
    const isLeading = word.head === "" || word.head.startsWith("-");
    if (word.kind === "glob" && isLeading && !ended && fearsOptions(program.value)) {
      reasons.push(asks(`\`${word.value}\` can become an option; put ./ before it`));
    }
  }
  return reasons;
}

/** `cd` moves all that follows: it must lead to a folder of the scopes that is there. */
function judgeMove({ table }: JudgeContext, command: SimpleCommand): readonly Reason[] {
  const [program, target] = command.words;
  if (program?.value !== "cd" || target === undefined) return [];
  const isClear = flowAfter(command.words, command.folders).ok !== undefined;
  const isFolder = (command.folders ?? []).every((folder) => {
    const where = whereIs(table, folder, target.value);
    return where.type === "inside" && where.fact?.type === "directory";
  });
  return isClear && isFolder ? [] : [asks(`${nameWord(target)} is not a folder of the scopes`)];
}

/** What a program starts, as if it stood alone; and the scripts that it runs. */
function judgeInner(context: JudgeContext, command: SimpleCommand, reading: ProgramReading): readonly Reason[] {
  const deeper = { ...context, depth: context.depth + 1 };
  const inner = (reading.inner ?? []).flatMap(({ words, mustBeCovered, takesMore }) => {
    if (takesMore === true) addText(context.started, { text: beginningOf(words), open: true });
    const reasons = judgeCommand(deeper, { ...command, words, assignments: [], redirects: [] });
    return mustBeCovered ? reasons : reasons.map((reason) => (reason.level === "uncovered" ? asks(reason.why) : reason));
  });
  const scripts = (reading.scripts ?? []).flatMap(({ script }) => (script === undefined ? [] : judgePlan(deeper, script)));
  return [...inner, ...scripts];
}
