import type { ScopeDeclaration } from "../../../host/scopes.ts";
import type { ShellConfig, ShellRule } from "../config.ts";
import type { ShellWord } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { baseName } from "../parse/scripts.ts";
import { coversCommand, matchesArgument, parsePattern } from "../patterns.ts";
import type { PathWork } from "./judge-paths.ts";
import { whereIs } from "./path-table.ts";
import { askFor, type Finding } from "./reasons.ts";
import { couldTouch, findOutside } from "./sandbox-paths.ts";

export interface RuleContext {
  readonly config: ShellConfig;
  /** The scope in which commands run by default: the one that authors of rules have in mind. */
  readonly home: ScopeDeclaration | undefined;
}

export interface RuleJudgement {
  readonly rule: ShellRule | undefined;
  readonly findings: readonly Finding[];
}

/**
 * The first rule that covers a command decides. What restricts a program also restricts it by a path (`rm` counts for `/bin/rm`), and
 * where only some of what it names could lie in the scopes of the rule.
 */
export function judgeByRules({ config, home }: RuleContext, work: PathWork): RuleJudgement {
  const { words } = work.command;
  const passed: string[] = [];
  const ofScopes: Finding[] = [];
  let ofName: readonly Finding[] | undefined = withBareName(words) === words ? [] : undefined;
  for (const rule of config.rules) {
    const pattern = parsePattern(rule.pattern);
    const [covers, coversName] = [
      coversCommand(pattern, words),
      ofName === undefined && coversCommand(pattern, withBareName(words)),
    ];
    if (!covers && !coversName) continue;
    const { sandbox_paths: scopes } = rule;
    const outside = scopes && findOutside(work, scopes);
    const findings = judgeRule(rule, words.slice(1));
    const restrictions = findings.filter(({ reason }) => reason !== undefined);
    if (outside !== undefined) {
      if (restrictions.length > 0 && couldTouch(work, scopes ?? [])) ofScopes.push(...restrictions);
      if (covers) passed.push(`\`${rule.pattern}\` does not match, because ${outside} is not in its sandbox_paths`);
      continue;
    }
    if (covers) return { rule, findings: [...ofScopes, ...(ofName ?? []), ...findings, ...judgePlace(home, work, rule)] };
    ofName = restrictions;
  }
  return { rule: undefined, findings: [...ofScopes, ...(ofName ?? []), ...judgeUncovered(config, words[0], passed)] };
}

function withBareName(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, ...args] = words;
  if (program?.kind !== "static" || !program.value.includes("/")) return words;
  return [{ ...program, value: baseName(program.value) }, ...args];
}

/** In another scope the relative paths of a rule are other files, and what a program finds there to run is another. */
function judgePlace(home: ScopeDeclaration | undefined, { table, command, reading }: PathWork, rule: ShellRule) {
  const program = nameWord(command.words[0] as ShellWord);
  const path = parsePattern(rule.pattern).find((token) => /^[^-*/~][^*]*\//.test(token));
  return (command.folders ?? []).flatMap((folder) => {
    const where = whereIs(table, folder, ".");
    const scope = where.type === "inside" ? where.fact?.scope : undefined;
    if (scope === undefined || scope.name === home?.name || rule.sandbox_paths?.includes(scope.name) === true) return [];
    const lifts = `\`sandbox_paths: [${scope.name}]\` in the rule allows that`;
    if (path !== undefined)
      return [askFor(`${program}: in the scope ${scope.name}, \`${path}\` of the rule is another file; ${lifts}`)];
    if (reading.effect !== "unknown" || home === undefined || isFree(home) || !isFree(scope)) return [];
    return [askFor(`${program} runs in the scope ${scope.name}, where calls can write what it runs; ${lifts}`)];
  });
}

/** Calls write there without a question. */
function isFree({ mode, writeApproval }: ScopeDeclaration): boolean {
  return mode === "rw" && writeApproval !== true;
}

function judgeRule(rule: ShellRule, args: readonly ShellWord[]): readonly Finding[] {
  const { pattern, approval_required: required, deny_args = [], approval_required_if_args: ifArgs = [] } = rule;
  const firstLike = (globs: readonly string[]) => args.find((word) => globs.some((glob) => matchesArgument(glob, word)));
  const denied = firstLike(deny_args);
  if (denied !== undefined) {
    return [{ reason: { level: "blocked", why: `deny_args of the rule \`${pattern}\` has ${nameWord(denied)}` } }];
  }
  const findings: Finding[] = [];
  const asked = firstLike(ifArgs);
  if (asked !== undefined) findings.push(askFor(`approval_required_if_args of the rule \`${pattern}\` has ${nameWord(asked)}`));
  const isUnclear = (deny_args.length > 0 || ifArgs.length > 0) && args.some(({ kind }) => kind !== "static");
  if (isUnclear) findings.push(askFor(`the rule \`${pattern}\` looks at arguments, and not all of them are known`));
  if (required === true) findings.push(askFor(`approval_required of the rule \`${pattern}\``));
  else if (required === false) findings.push({ allowedBy: pattern });
  else findings.push({ reason: { level: "default", why: `the rule \`${pattern}\` asks unless it says otherwise` } });
  return findings;
}

function judgeUncovered(config: ShellConfig, program: ShellWord | undefined, passed: readonly string[]): readonly Finding[] {
  const name = program === undefined ? "this" : nameWord(program);
  if (config.default?.approval_required === true) return [askFor(`no rule covers ${name}, and the default asks`)];
  if (config.default !== undefined) return [];
  const rules = passed.length > 0 ? passed.join("; ") : listRules(config);
  const hint = program?.value === "cd" ? "; use the argument cwd instead" : "";
  return [{ reason: { level: "uncovered", why: `no rule covers ${name} (${rules})${hint}` } }];
}

const mostListed = 20;

function listRules({ rules }: ShellConfig): string {
  const patterns = [...new Set(rules.map(({ pattern }) => `\`${pattern}\``))];
  if (patterns.length === 0) return "there are no rules";
  const more = patterns.length > mostListed ? `, and ${patterns.length - mostListed} more` : "";
  return `rules: ${patterns.slice(0, mostListed).join(", ")}${more}`;
}
