import { protectionOfName } from "../../../host/scopes/protected-names.ts";
import { ScopeError, type Scopes } from "../../../host/scopes/scopes.ts";
import { followPath } from "../parse/folders.ts";
import { everyCommand, type ShellPlan, type ShellWord, type SimpleCommand } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { parsePattern } from "../patterns.ts";
import { plainReaders } from "./names.ts";
import type { Reason } from "./reasons.ts";
import type { JudgedCall, Outcome } from "./verdict.ts";

/**
 * Where nothing isolates a command, each one asks. If the caller of the run accepts that, readers of files that are spelt out run, and what
 * a rule with `unisolated: true` has word for word.
 */
export function judgeUnwalled({ unisolated, plan, plainReads }: JudgedCall, outcomes: readonly Outcome[]): readonly Reason[] {
  if (!unisolated) {
    const why = "commands are not isolated on this machine, so each of them asks; --unisolated lifts that for plain readers";
    return [{ level: "rule", why }];
  }
  const isRead = plan.script !== undefined && [...everyCommand(plan)].every(({ assignments }) => assignments.length === 0);
  const asking = outcomes.filter(({ start, rule }) => {
    const { words, command, isRedirected } = start;
    const isPlain = words === command.words && plainReads.has(command);
    return isRedirected || !(isPlain || (rule?.unisolated === true && isWordForWord(rule.pattern, words)));
  });
  if (isRead && asking.length === 0) return [];
  const names = [...new Set(asking.map(({ start }) => nameWord(start.words[0])))].join(", ") || "the line";
  return [{ level: "rule", why: `nothing isolates ${names} on this machine, and it is no plain reader of files of the scopes` }];
}

function isWordForWord(pattern: string, words: readonly ShellWord[]): boolean {
  const tokens = parsePattern(pattern);
  return tokens.length === words.length && words.every(({ kind, value }, at) => kind === "static" && value === tokens[at]);
}

/** Looks up the commands that read nothing but regular files of scopes: no option, link, glob, protected name or scope that asks. */
export async function findPlainReads(scopes: Scopes, base: string, plan: ShellPlan): Promise<ReadonlySet<SimpleCommand>> {
  const found = new Set<SimpleCommand>();
  for (const command of everyCommand(plan)) {
    const [program, ...operands] = command.words;
    if (program?.kind !== "static" || !plainReaders.has(program.value) || command.redirects.some(({ type }) => type !== "free"))
      continue;
    if (operands.length === 0 && !command.hasInput) continue;
    const files = await Promise.all(operands.map((word) => isPlainFile(scopes, { base, command, word })));
    if (files.every((isPlain) => isPlain)) found.add(command);
  }
  return found;
}

interface Operand {
  readonly base: string;
  readonly command: SimpleCommand;
  readonly word: ShellWord;
}

async function isPlainFile(
  scopes: Scopes,
  { base, command: { folders = [] }, word: { kind, value } }: Operand,
): Promise<boolean> {
  if (kind !== "static" || value.startsWith("-") || value.split("/").includes("..") || folders.length === 0) return false;
  for (const folder of folders) {
    const components = followPath(folder, value);
    if (components === undefined || protectionOfName(components) === "ask-read-and-write") return false;
    try {
      const { scope, facts, protection } = await scopes.inspect(`${base}:${components.join("/")}`, "read");
      if (facts?.type !== "file" || scope.readApproval === true || protection === "ask-read-and-write") return false;
    } catch (error) {
      if (error instanceof ScopeError) return false;
      throw error;
    }
  }
  return true;
}
