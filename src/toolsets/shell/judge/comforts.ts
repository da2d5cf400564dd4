import { compileGlob } from "../../../host/scopes/glob.ts";
import { type ScopeDeclaration, ScopeError, type Scopes } from "../../../host/scopes/scopes.ts";
import { nameSet } from "../../../util/text/name-set.ts";
import type { ShellRule } from "../config.ts";
import { followPath } from "../parse/folders.ts";
import type { Folder, ShellWord } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import { baseName } from "../parse/scripts.ts";
import { matchesArgument } from "../patterns.ts";
import type { Reason } from "./reasons.ts";
import type { Start } from "./starts.ts";

/*
 * Keys of rules that are judged on words alone: they keep an honest model from slips. What a command can do is decided by its effects.
 */

interface Place {
  readonly scopes: Pick<Scopes, "resolve" | "covered">;
  readonly scope: ScopeDeclaration;
}

/** Returns the deepest scope that a folder of a plan lies in. */
export function scopeOfFolder({ scopes, scope }: Place, folder: Folder): string | undefined {
  try {
    return scopes.covered(`${scope.name}:${folder.join("/")}`)[0]?.name;
  } catch (error) {
    if (error instanceof ScopeError) return undefined;
    throw error;
  }
}

/** Returns whether all paths among the words lie where the rule says: in `sandbox_paths`, and for `>` in `redirect_paths`. */
export function isInPaths(place: Place, { sandbox_paths: names, redirect_paths: globs }: ShellRule, start: Start): boolean {
  const { words, command, takesMore } = start;
  const { folders, redirects } = command;
  if (names === undefined && globs === undefined) return true;
  const written = redirects.flatMap(({ type, target }) => (type === "write" ? [target] : []));
  const isWritable = globs === undefined || written.every((target) => matchesPath(place, globs, { target, folders }));
  if (names === undefined) return isWritable;
  if (folders === undefined || takesMore) return false;
  const read = redirects.flatMap(({ type, target }) => (type === "read" && target ? [target] : []));
  const isIn = (path: string) =>
    folders.every((folder) => {
      const components = followPath(folder, path);
      const name = components && scopeOfFolder(place, components);
      return name !== undefined && names.includes(name);
    });
  const paths = [...operandsOf(words), ...read, ...written.flatMap((target) => target ?? [])].flatMap(pathIn);
  if (paths.length === 0 && command.hasInput) return isWritable;
  return isWritable && (paths.length > 0 ? paths : ["."]).every((path) => path !== undefined && isIn(path));
}

const takingPattern = nameSet("grep egrep fgrep zgrep rg ag jq sed awk gawk");

/** The arguments that can be paths: neither numbers nor the pattern of a program that searches. */
function operandsOf([program, ...args]: readonly ShellWord[]): readonly ShellWord[] {
  const pattern = takingPattern.has(baseName(program?.value ?? ""))
    ? args.find(({ value }) => !value.startsWith("-"))
    : undefined;
  return args.filter((word) => word !== pattern && !/^[+-]?\d+$/.test(word.value));
}

/** The path in a word: an operand, or the value of an option. Undefined if only the shell knows it. */
function pathIn(word: ShellWord): readonly (string | undefined)[] {
  const { kind, value } = word;
  if (kind === "variable" || kind === "dynamic") return [undefined];
  const text = value.startsWith("-")
    ? (/^-[^=]*=(.*)$/s.exec(value)?.[1] ?? /^-\w((?:\.{0,2}|~)\/.*)$/s.exec(value)?.[1])
    : value;
  if (text === undefined) return [];
  return [kind === "glob" ? text.replace(/[^/]*[*?[].*$/s, "") || "." : text];
}

interface Redirected {
  readonly target: ShellWord | undefined;
  readonly folders: readonly Folder[] | undefined;
}

function matchesPath({ scope }: Place, globs: readonly string[], { target, folders = [] }: Redirected): boolean {
  if (target?.kind !== "static" || folders.length === 0) return false;
  return folders.every((folder) => {
    const components = followPath(folder, target.value);
    const path = components && (scope.name === "." ? components : [scope.name, ...components]).join("/");
    return path !== undefined && globs.some((glob) => matchesGlob(glob, path));
  });
}

function matchesGlob(pattern: string, path: string): boolean {
  const { start, step, accepts } = compileGlob(pattern);
  return accepts(path.split("/").reduce(step, start));
}

/** What `deny_args` blocks and `approval_required_if_args` asks. */
export function comfortsOf(rule: ShellRule, { words, takesMore }: Start): readonly Reason[] {
  const { pattern, deny_args: denied = [], approval_required_if_args: asking = [] } = rule;
  const args = words.slice(1);
  const firstLike = (globs: readonly string[]) => args.find((word) => globs.some((glob) => matchesArgument(glob, word)));
  const [blocking, asked] = [firstLike(denied), firstLike(asking)];
  if (blocking !== undefined) {
    return [{ level: "blocked", why: `deny_args of the rule \`${pattern}\` has ${nameWord(blocking)}` }];
  }
  const isUnclear = denied.length + asking.length > 0 && (takesMore || args.some(({ kind }) => kind !== "static"));
  return [
    ...(asked
      ? [{ level: "rule" as const, why: `approval_required_if_args of the rule \`${pattern}\` has ${nameWord(asked)}` }]
      : []),
    ...(isUnclear
      ? [{ level: "rule" as const, why: `the rule \`${pattern}\` looks at arguments, and not all of them are known` }]
      : []),
  ];
}
