import { nameSet } from "../../../util/text/name-set.ts";
import type { ShellWord } from "../parse/plan.ts";
import { baseName, knownShells } from "../parse/scripts.ts";

/** Programs that read what they are given. Without a wall they may read files that are spelt out. */
export const plainReaders = nameSet(`
  basename cat cksum cmp column comm cut diff dirname du egrep expand fgrep file fold grep head hexdump join jq ls md5sum nl od paste
  pwd readlink realpath rev sha1sum sha256sum sha512sum sort stat strings sum tac tail tr unexpand uniq wc`);

/** Programs that need no rule where they stand beside programs that have one. */
const bystanders = nameSet("cd echo printf true false : test [ sleep date seq");

/** Words with which some of them write a file, start a program or set the clock. */
const doing: Readonly<Record<string, RegExp>> = { sort: /^-[^-]*o|^--(?:o|co)/, file: /^-[^-]*C|^--c/, date: /^-[^-]*s|^--s/ };

export function isBystander([program, ...rest]: readonly [ShellWord, ...ShellWord[]]): boolean {
  const { kind, value } = program;
  if (kind !== "static" || !(bystanders.has(value) || plainReaders.has(value))) return false;
  if (value === "uniq") return rest.every((word) => word.kind === "static") && rest.filter(isOperand).length < 2;
  const does = doing[value];
  return does === undefined || rest.every((word) => word.kind === "static" && !does.test(word.value));
}

function isOperand({ value }: ShellWord): boolean {
  return value === "-" || !value.startsWith("-");
}

/**
 * Programs that start another one that stands among their words. A rule that blocks or asks by name also holds for these words. The list
 * is for those that are known: a block holds for what can be read.
 */
const starters = nameSet(`
  builtin bunx busybox bwrap capsh catchsegv cgexec choom chroot chronic chrt command coproc cpulimit dbus-run-session doas docker dtach entr env exec
  expect faketime fakeroot fd fdfind find firejail flock gosu hyperfine i386 ionice linux32 linux64 logsave ltrace nice nodemon nohup
  npx nsenter numactl parallel perf pipesz podman pkexec prlimit proot proxychains rlwrap run-parts runcon runuser script sem setarch setpriv
  setsid sg ssh start-stop-daemon stdbuf strace su su-exec sudo systemd-inhibit systemd-run taskset time timeout toybox unbuffer
  unshare uv uvx valgrind watch watchexec x86_64 xargs xvfb-run`);

/** Package managers start programs by some words alone. */
const managers = nameSet("npm pnpm yarn bun");
const startingWords = nameSet("exec x dlx env");

export function isStarter([program, ...rest]: readonly ShellWord[]): boolean {
  const name = baseName(program?.value ?? "").toLowerCase();
  if (managers.has(name)) return rest.some(({ value }) => startingWords.has(value));
  return starters.has(name) || starters.has(name.replace(/^g/, "")) || /^ld-(?:linux|musl)/.test(name);
}

/** Starters whose own words are known: options, numbers, and variables that they set. */
const transparent = nameSet("builtin command env ionice nice nohup stdbuf time timeout xargs");

/** Returns where the words begin that a starter starts. Undefined if it is none, or says it in another way. */
export function startedAt([program, ...rest]: readonly ShellWord[]): number | undefined {
  if (program?.kind !== "static" || !transparent.has(program.value)) return undefined;
  const own = program.value === "env" ? /^(?!\d)\w+=/ : /^(?:--?[\w-]+(?:=[\w.]+)?|\d+(?:\.\d+)?[smhd]?)$/;
  const at = rest.findIndex(({ kind, value }) => kind !== "static" || !own.test(value));
  return at === -1 ? undefined : at + 1;
}

/** Options with which an interpreter runs code that stands in the line. */
const interpreters: Readonly<Record<string, RegExp>> = {
  python: /^-[bBEIOsSuvx]*c/,
  pypy: /^-[bBEIOsSu]*c/,
  node: /^(?:-[a-z]*[ep]|--eval|--print)/,
  bun: /^(?:-e|--eval|-p)/,
  deno: /^eval$/,
  perl: /^-[anplwW\d]*[eE]/,
  ruby: /^-[anplw]*e/,
  php: /^-[rBRE]/,
  lua: /^-e/,
  rscript: /^-e/,
};

/** Built-ins that change what later words start, or run their words. */
const changing = nameSet("eval source . alias trap enable hash shopt bind complete compgen mapfile readarray");
const declaring = nameSet("export declare typeset local readonly read unset printf");

/**
 * Returns whether a built-in is given the name of a variable with a subscript, or a name that only the shell knows. Bash evaluates a
 * subscript as arithmetic, with the commands that stand in it, however it is quoted (bash(1), "Arrays").
 */
function evaluatesSubscript(program: string, words: readonly ShellWord[]): boolean {
  return namedBy(program, words).some(({ kind, value }) => {
    if (kind !== "static" && (program === "let" || !/^\w+\+?=/.test(value))) return true;
    return /\w\[/.test(program === "let" ? value : (value.split("=", 1)[0] ?? ""));
  });
}

const naming = nameSet("export declare typeset local readonly read unset let");
const comparing = nameSet("= == != < > -eq -ne -lt -le -gt -ge -ef -nt -ot -a -o ]");

/** The words that a built-in may take as names of variables. */
function namedBy(program: string, words: readonly ShellWord[]): readonly ShellWord[] {
  const mayBe = ({ kind, head, value }: ShellWord, option: RegExp) =>
    kind === "static" ? option.test(value) : head === "" || head.startsWith("-");
  if (naming.has(program)) return words;
  if (program === "printf") return words[0] && mayBe(words[0], /^-v/) ? words.slice(0, 2) : [];
  if (program === "getopts") return words.slice(1, 2);
  if (program === "wait") return words.some(({ value }) => value.startsWith("-p")) ? words : [];
  if (program !== "test" && program !== "[") return [];
  // After an operator that may ask for a name. A word before one that compares is none. What the shell splits can be both.
  return words.flatMap((word, index) => {
    if (maySplit(word) && mayBe(word, /^-/)) return [word];
    const next = words[index + 1];
    return next && !comparing.has(next.value) && mayBe(word, /^-[vR]$/) ? [next] : [];
  });
}

/** Returns whether the shell can make several words of one: all but what stands in quotes whole. */
function maySplit({ kind, print }: ShellWord): boolean {
  return kind !== "static" && !/^"[^"]*"$/.test(print ?? "");
}

/** Returns why a part of a line starts what its words do not say. Undefined if they say it. */
export function hiddenStart(words: readonly ShellWord[]): string | undefined {
  const [program, ...rest] = words;
  if (program === undefined) return undefined;
  if (program.kind !== "static") return "a program that only the shell knows";
  if (changing.has(program.value)) return `\`${program.value}\`, which changes what the line starts`;
  if (declaring.has(program.value) && rest.some((word) => namesIn(word).some(steers))) {
    return `\`${program.value}\` of a variable that steers programs`;
  }
  if (evaluatesSubscript(program.value, rest)) return `\`${program.value}\` of a name with a subscript, which can start programs`;
  const name = baseName(program.value);
  if (name === "git" && rest.some(setsAlias)) return "an alias that the line gives to `git`";
  return knownShells.has(name) && !isReadShell(rest) ? `a script of \`${name}\` that was not read` : undefined;
}

/** The names of variables that a word can give a built-in: `NAME`, `NAME=…`, or behind letters of options, as in `printf -vNAME`. */
function namesIn({ head, value }: ShellWord): readonly string[] {
  const [name = ""] = (head || value).split("=", 1);
  return name.startsWith("-") ? [...name].map((_, index) => name.slice(index)) : [name];
}

/** `git -c alias.x=…`, and the same by a variable. */
function setsAlias({ value }: ShellWord, index: number, words: readonly ShellWord[]): boolean {
  return (
    /^(?:--config-env=)?alias\./i.test(value) &&
    (value.startsWith("-") || /^-(?:c|-config-env)$/.test(words[index - 1]?.value ?? ""))
  );
}

/** The code that an interpreter is given in the line, or as its input. */
export function codeOf([program, ...rest]: readonly ShellWord[]): string | undefined {
  if (program?.kind !== "static") return undefined;
  const name = baseName(program.value);
  const code = interpreters[name.toLowerCase().replace(/[\d.]+$/, "")];
  if (code === undefined) return undefined;
  const isInput = rest.every(({ value }) => value.startsWith("-") && value !== "--version");
  return isInput || rest.some(({ kind, value }) => kind !== "static" || code.test(value)) ? `code of \`${name}\`` : undefined;
}

/** `bash -c` with a script that was read, or a file that is spelt out. */
function isReadShell(rest: readonly ShellWord[]): boolean {
  const first = rest.find(({ value }) => !value.startsWith("-"));
  if (first?.kind !== "static") return false;
  return rest[0] === first || rest.some(({ script }) => script !== undefined && script.uncertain === undefined);
}

/** Variables that name programs, or what those load or run. */
const steering =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|CDPATH|PS[0-4]|(?:LD|DYLD|npm_config)_\w+|\w*(?:PAGER|EDITOR|VISUAL|BROWSER|SHELL|ASKPASS|COMMAND|LESSOPEN|LESSCLOSE)|GIT_\w+|NODE_(?:OPTIONS|PATH)|PERL5\w+|RUBY(?:OPT|LIB)|PYTHON(?:STARTUP|HOME|BREAKPOINT)|MAKEFLAGS|RUSTC\w*|GOFLAGS|HGRCPATH)$/i;

export function steers(variable: string): boolean {
  return steering.test(variable);
}
