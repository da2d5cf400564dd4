import { everyCommand, type PlannedRedirect, type ShellPlan, type ShellWord, type SimpleCommand } from "../parse/plan.ts";
import { baseName } from "../parse/scripts.ts";
import { codeOf, hiddenStart, isStarter, startedAt, steers } from "./names.ts";

/** A program that a line starts. */
export interface Start {
  readonly words: readonly [ShellWord, ...ShellWord[]];
  readonly command: SimpleCommand;
  /** It gets more arguments than its words, as `xargs` gives them. */
  readonly takesMore: boolean;
  /** Its output goes into a file. */
  readonly isRedirected: boolean;
  /** Other words that rules which block or ask by name hold for: around it, by its bare name, and started among its words. */
  readonly others: readonly (readonly ShellWord[])[];
}

/** More words of a starter are not looked at. */
const mostWords = 100;

/** The programs of a line, in the order of the text. A starter whose own words are known gives way to what it starts. */
export function startsOf(plan: ShellPlan): readonly Start[] {
  const commands = [...everyCommand(plan)];
  const isGroupRedirected = commands.some((command) => command.words.length === 0 && writesFile(command));
  return commands.flatMap((command) => {
    const around: (readonly ShellWord[])[] = [];
    let { words } = command;
    let takesMore = false;
    for (let at = startedAt(words); at !== undefined && around.length < mostWords; at = startedAt(words)) {
      around.push(words);
      takesMore ||= words[0]?.value === "xargs";
      words = words.slice(at);
    }
    if (!hasProgram(words)) return [];
    const isRedirected = isGroupRedirected || writesFile(command);
    const others = [...around, ...withBareName(words), ...startedAmong(command.words), ...plainGit(words)];
    return [{ words, command, takesMore, isRedirected, others }];
  });
}

function hasProgram(words: readonly ShellWord[]): words is readonly [ShellWord, ...ShellWord[]] {
  return words.length > 0;
}

function writesFile({ redirects }: SimpleCommand): boolean {
  return redirects.some(({ type }) => type === "write");
}

function withBareName([program, ...rest]: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  if (program?.kind !== "static" || !program.value.includes("/")) return [];
  return [[{ ...program, value: baseName(program.value) }, ...rest]];
}

/** Each of its words could be the program that it starts, or a line of its own. */
function startedAmong(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  if (!isStarter(words)) return [];
  return words.slice(1, mostWords).flatMap((word, index) => {
    const line = word.kind === "static" && /\s/.test(word.value) ? word.value.trim().split(/\s+/) : [];
    const read = line.map(staticWord);
    return [words.slice(index + 1), ...(read.length > 0 ? [read] : [])];
  });
}

/** `git push` of `git -C elsewhere push` and of `git-push`, from any folder. */
function plainGit([program, ...rest]: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const [, command] = /^git(?:-(.+))?$/.exec(program?.kind === "static" ? baseName(program.value) : "") ?? [undefined, ""];
  if (command === "") return [];
  if (command !== undefined) return [[staticWord("git"), staticWord(command), ...rest]];
  const at = rest.findIndex(({ value }, index) => !value.startsWith("-") && !takingValue.test(rest[index - 1]?.value ?? ""));
  return at > 0 ? [[staticWord("git"), ...rest.slice(at)]] : [];
}

function staticWord(value: string): ShellWord {
  return { kind: "static", value, head: value, print: value };
}

const takingValue = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|super-prefix|config-env))$/;

export interface Hidden {
  /** Why a line cannot be taken apart into programs: its words do not say what it starts. */
  readonly reasons: readonly string[];
  /** It could start any program, and not just the code of an interpreter. */
  readonly isOpen: boolean;
}

export function findHidden({ commands, findings, uncertain }: ShellPlan, starts: readonly Start[]): Hidden {
  const ofEnv = commands.flatMap(({ words }) => (words[0]?.value === "env" ? words.map(nameSetBy) : []));
  const set = [...commands.flatMap(({ assignments }) => assignments), ...ofEnv].filter(steers);
  const code = starts.flatMap(({ words }) => codeOf(words) ?? []);
  const open = [
    ...(uncertain === undefined ? [] : [`the command cannot be read with certainty: ${uncertain}`]),
    ...set.map((name) => `it sets ${name}`),
    ...commands.flatMap(({ redirects }) => (redirects.some(mayConnect) ? ["it may connect by a redirection"] : [])),
    ...starts.flatMap(({ words }) => hiddenStart(words) ?? []).map((what) => `it starts ${what}`),
    ...findings.filter((finding) => finding.includes("a function")),
  ];
  return { reasons: [...open, ...code.map((what) => `it starts ${what}`)], isOpen: open.length > 0 };
}

/** Bash connects where it opens `/dev/tcp/HOST/PORT`. */
function mayConnect({ type, target }: PlannedRedirect): boolean {
  if (target === undefined || type === "text" || type === "free") return false;
  return /^\/+dev\/+(?:tcp|udp)\//.test(target.value) || (target.kind !== "static" && /^(?:\/|$)/.test(target.head));
}

function nameSetBy({ value }: ShellWord): string {
  return value.includes("=") ? (value.split("=", 1)[0] ?? "") : "";
}
