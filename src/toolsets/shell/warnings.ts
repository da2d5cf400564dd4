import type { ConfigWarning } from "../toolset.ts";
import { unknownScopes } from "../unknown-scopes.ts";
import type { ShellConfig, ShellRule } from "./config.ts";
import { includesPattern, parsePattern } from "./patterns.ts";

export type ShellWarning = ConfigWarning;

/** Warns of rules that are valid and cannot do what their author meant. `scopes`: the names that the worker has. Pure. */
export function shellWarnings(config: ShellConfig, scopes?: readonly string[]): readonly ShellWarning[] {
  const { rules } = config;
  if (rules.length === 0 && config.default === undefined) {
    return [{ path: [], message: "blocks every command: it has no rules and no default" }];
  }
  return rules.flatMap((rule, index) => [
    ...patternWarnings(rule, index),
    ...shadowWarnings(rules, index),
    ...scopeWarnings(rule, index, scopes),
  ]);
}

/** Warns of rules that ask although the author pre-approves the tool: a rule that is written counts. Pure. */
export function approvalWarnings({ rules }: ShellConfig): readonly ShellWarning[] {
  return rules.flatMap(({ approval_required: asks }, index) => {
    const message = "asks all the same: `pre_approved: true` lifts no question that a rule demands";
    return asks === true ? [{ path: ["rules", index, "approval_required"], message }] : [];
  });
}

function patternWarnings({ pattern }: ShellRule, index: number): ShellWarning[] {
  const path = ["rules", index, "pattern"];
  const [program = ""] = parsePattern(pattern);
  if (/['"\\]/.test(pattern)) {
    return [{ path, message: "never matches: quotes and backslashes mean nothing in a pattern; write * for a blank" }];
  }
  const operator = /\|\||&&|[|;&<>`]|\$\(/.exec(pattern)?.[0];
  if (operator !== undefined) {
    const message = `never matches: \`${operator}\` is no argument; each command of a line is matched alone`;
    return [{ path, message }];
  }
  if (program.includes("=")) return [{ path, message: "never matches: a variable in front of a command is not part of it" }];
  if (program.startsWith("~") || program.includes("$")) {
    return [{ path, message: "never matches: a program that only a shell can tell is covered by no rule" }];
  }
  return [];
}

function scopeWarnings(
  { sandbox_paths: names }: ShellRule,
  index: number,
  scopes: readonly string[] | undefined,
): readonly ShellWarning[] {
  const path = ["rules", index, "sandbox_paths"];
  if (names?.length === 0) return [{ path, message: "never matches: no scope is named" }];
  return scopes ? unknownScopes(names ?? [], scopes, path) : [];
}

function shadowWarnings(rules: readonly ShellRule[], index: number): ShellWarning[] {
  const rule = rules[index];
  if (rule === undefined) return [];
  const pattern = parsePattern(rule.pattern);
  const shadow = rules.slice(0, index).find((one) => {
    return one.sandbox_paths === undefined && includesPattern(parsePattern(one.pattern), pattern);
  });
  if (shadow === undefined) return [];
  const message = `never decides: the earlier rule \`${shadow.pattern}\` covers all of it`;
  return [{ path: ["rules", index, "pattern"], message }];
}
