import type { ShellRule } from "../config.ts";
import { flowAfter } from "../parse/folders.ts";
import { everyCommand, type ShellPlan, type ShellWord, type SimpleCommand } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { parsePattern, spellsOut } from "../patterns.ts";
import type { ProgramReading } from "../programs/program.ts";
import { deepest, everyStart, fearsOptions, readStart } from "../programs/registry.ts";
import { setsProgram } from "../programs/wrappers.ts";
import { copiedBy, judgePaths, judgeRedirect, type PathWork } from "./judge-paths.ts";
import { judgeByRules, type RuleContext } from "./judge-rules.ts";
import { isLeading, type PathTable, whereIs } from "./path-table.ts";
import { askFor, type Finding } from "./reasons.ts";
import { anything, beginningOf, possibleTexts, textsOf } from "./started-texts.ts";

/** All that a judgement rests on. */
export interface JudgeContext extends RuleContext {
  readonly table: PathTable;
}

/** A line with more programs in it than this, those that others start included, is never allowed. */
const mostPrograms = 500;

/** A whole command line: the findings of all its parts, in the order of the text. */
export function judgePlan(context: JudgeContext, plan: ShellPlan): readonly Finding[] {
  const findings: Finding[] = [];
  const isAlone = [...everyCommand(plan)].filter(mayChange).length <= 1;
  const copied = [...everyCommand(plan)].flatMap((command) =>
    [...everyStart(command)].flatMap(({ reading }) => copiedBy(context.table, command, reading)),
  );
  let programs = 0;
  for (const part of partsOf(plan, { depth: 0, isCovered: true })) {
    if (part.command !== undefined && part.command.words.length > 0) programs++;
    if (programs > mostPrograms) return [...findings, { started: anything }, askFor("it starts too many programs")];
    const found = part.command === undefined ? judgeText(context, part.plan) : judgeCommand(context, part, { isAlone, copied });
    findings.push(...(part.isCovered ? found : found.map(withoutRule)));
  }
  return findings;
}

function mayChange(command: SimpleCommand): boolean {
  return [...everyStart(command)].some(({ reading: { effect, hatches } }) => {
    return effect === "write" || effect === "unknown" || hatches.length > 0;
  });
}

/** A start that is part of another program's own work asks anyway, and needs no rule. */
function withoutRule(finding: Finding): Finding {
  return finding.reason?.level === "uncovered" ? askFor(finding.reason.why) : finding;
}

interface Level {
  /** Number of programs and scripts that it lies in. */
  readonly depth: number;
  /** A rule must cover it. */
  readonly isCovered: boolean;
}

type Part = Level &
  (
    | { readonly plan: ShellPlan; readonly command?: undefined }
    | { readonly command: SimpleCommand; readonly reading: ProgramReading; readonly takesMore: boolean }
  );

/** A line or script, then each of its commands with what that starts itself, however deep. */
function* partsOf(plan: ShellPlan, level: Level): Generator<Part> {
  yield { ...level, plan };
  for (const command of plan.refused === undefined ? plan.commands : []) yield* startsOf(command, level, false);
}

function* startsOf(command: SimpleCommand, level: Level, takesMore: boolean): Generator<Part> {
  const reading = readStart(command);
  yield { ...level, command, reading, takesMore };
  if (level.depth > deepest) return;
  const deeper = { ...level, depth: level.depth + 1 };
  for (const { words, mustBeCovered, takesMore: more = false } of reading.inner ?? []) {
    const isCovered = level.isCovered && mustBeCovered;
    yield* startsOf({ ...command, words, assignments: [], redirects: [] }, { ...deeper, isCovered }, more);
  }
  for (const { script } of reading.scripts ?? []) if (script !== undefined) yield* partsOf(script, deeper);
}

function judgeText({ config }: JudgeContext, { refused, findings, uncertain }: ShellPlan): readonly Finding[] {
  if (refused !== undefined) return [{ reason: { level: "blocked", why: refused } }];
  const found = findings.map(askFor);
  if (uncertain === undefined) return found;
  // Never allowed. Where there is a default, a person may look.
  const why = `the command cannot be read with certainty: ${uncertain}`;
  return [...found, { started: anything }, config.default === undefined ? { reason: { level: "uncovered", why } } : askFor(why)];
}

type CommandPart = Extract<Part, { command: SimpleCommand }>;

type Surroundings = Pick<PathWork, "isAlone" | "copied">;

function judgeCommand(context: JudgeContext, part: CommandPart, around: Surroundings): readonly Finding[] {
  const { command, reading, depth, takesMore } = part;
  const { words, assignments } = command;
  const ofShell = [
    ...(assignments.length > 0 ? [askFor(`it sets ${assignments.join(", ")}`)] : []),
    ...(assignments.some(setsProgram) ? [{ started: anything }] : []),
    ...(command.folders === undefined ? [askFor("where a part of it runs cannot be told")] : []),
  ];
  const [program] = words;
  if (program === undefined) return [...judgeRedirects(context, command, around), ...ofShell];
  const started = [...(takesMore ? [{ text: beginningOf(words), open: true }] : []), ...textsOf(words)].map((text) => ({
    started: text,
  }));
  if (depth > deepest)
    return [...started, { started: anything }, ...ofShell, askFor("it starts programs in programs in programs")];
  const others = new Set(reading.inner?.flatMap((one) => one.words));
  const work: PathWork = { table: context.table, command, reading, others, ...around };
  const { rule, findings } = judgeByRules(context, work);
  return [
    ...started,
    ...ofReading(program, reading),
    ...judgeRedirects(context, command, around, rule),
    ...ofShell,
    ...findings,
    ...judgeHatches(rule, program, reading),
    ...judgeUnknowns(program, work),
    ...judgePaths(work),
    ...judgeMove(context, command),
  ];
}

function ofReading(
  program: ShellWord,
  { startsUnknown, also, effect, opens, opensIfAsked = [] }: ProgramReading,
): readonly Finding[] {
  const couldWrite = effect === "unknown" || effect === "write";
  return [
    ...(startsUnknown === true ? [{ started: anything }] : []),
    ...possibleTexts(also ?? []).map((text) => ({ started: text })),
    ...(opens ?? []).map((name) => ({ opens: name })),
    ...opensIfAsked.map((name) => ({ opensIfAsked: name })),
    ...(couldWrite && opens === undefined ? [{ stranger: nameWord(program) }] : []),
  ];
}

function judgeRedirects({ table }: JudgeContext, command: SimpleCommand, { copied }: Surroundings, rule?: ShellRule) {
  const work = { table, command, copied, allowed: rule?.redirect_paths ?? [] };
  return command.redirects.flatMap((redirect) => judgeRedirect(work, redirect));
}

function judgeHatches(rule: ShellRule | undefined, program: ShellWord, { hatches }: ProgramReading): readonly Finding[] {
  const pattern = rule === undefined ? [] : parsePattern(rule.pattern);
  return hatches
    .filter(({ unlessSpelt }) => unlessSpelt === undefined || !spellsOut(pattern, unlessSpelt))
    .flatMap(({ why, starts }) => [askFor(`${nameWord(program)}: ${why}`), ...(starts ? [{ started: anything }] : [])]);
}

/** Words that only the shell knows, where they could be anything. */
function judgeUnknowns(program: ShellWord, { command, reading, others }: PathWork): readonly Finding[] {
  const findings = program.kind === "static" ? [] : [askFor(`what ${nameWord(program)} starts is known to the shell alone`)];
  if (reading.takesAnything === true) return findings;
  let ended = false;
  for (const word of command.words.slice(1)) {
    if (others.has(word)) continue;
    ended ||= word.kind === "static" && word.value === "--";
    if (word.kind === "variable") findings.push(askFor(`what ${nameWord(word)} means is known to the shell alone`));
    if (word.kind === "glob" && isLeading(word) && fearsOptions(program.value, ended)) {
      findings.push(askFor(`\`${word.value}\` can become an option; put ./ before it`));
    }
  }
  return findings;
}

/** `cd` moves all that follows: it must lead to a folder of the scopes that is there. */
function judgeMove({ table }: JudgeContext, command: SimpleCommand): readonly Finding[] {
  const [program, target] = command.words;
  if (program?.value !== "cd" || target === undefined) return [];
  const isClear = flowAfter(command.words, command.folders).ok !== undefined;
  const isFolder = (command.folders ?? []).every((folder) => {
    const where = whereIs(table, folder, target.value);
    return where.type === "inside" && where.fact?.type === "directory";
  });
  return isClear && isFolder ? [] : [askFor(`${nameWord(target)} is not a folder of the scopes`)];
}
