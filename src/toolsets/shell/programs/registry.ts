import { nameSet } from "../../../util/name-set.ts";
import { baseName } from "../parse/scripts.ts";
import { databaseShells } from "./databases.ts";
import { find } from "./find.ts";
import { git } from "./git.ts";
import { changeDirectory, evaluate, interpreter, printf, shell, test } from "./interpreters.ts";
import { readOptions } from "./options.ts";
import { packageTools } from "./packages.ts";
import { asking, type Program, type ProgramReading, type ProgramStart, plain } from "./program.ts";
import { readers } from "./readers.ts";
import { tar } from "./tar.ts";
import { wrappers } from "./wrappers.ts";
import { writers } from "./writers.ts";

/** Reads a start by the row of its program. Nothing is known of other programs: they do what the author of the rule says. */
export function readStart(start: ProgramStart): ProgramReading {
  return (rowOf(start.words[0]?.value ?? "") ?? plain("unknown")).read(start);
}

export interface StartReading {
  readonly words: ProgramStart["words"];
  readonly reading: ProgramReading;
}

/** A start, and those among its words that it starts itself. */
export function* everyStart(start: ProgramStart, depth = 0): Generator<StartReading> {
  if (start.words.length === 0 || depth > deepest) return;
  const reading = readStart(start);
  yield { words: start.words, reading };
  for (const { words } of reading.inner ?? []) yield* everyStart({ ...start, words }, depth + 1);
}

/** Programs in programs deeper than this are not read: they ask. */
export const deepest = 6;

/** True where the program could take a name of a file for an option that matters. `ended`: the name stands behind `--`. */
export function fearsOptions(program: string, ended: boolean): boolean {
  const row = rowOf(program);
  return row !== undefined && row !== plainReader && !(ended && row.options?.ends === true);
}

/** True where the program reads or writes in the folder that it runs in, whatever its operands name. */
export function usesItsFolder(words: ProgramStart["words"], { effect }: ProgramReading): boolean {
  const program = words[0]?.value ?? "";
  const row = rowOf(program);
  if (row === undefined) return false;
  const operands = row.options && readOptions(words, row.options).operands;
  return effect === "unknown" || operands?.length === 0 || /^(?:git|tar|unzip)$/.test(nameOf(program));
}

/** By the program's name, or by that of the program of which it seems to be a version: `gcc-12`, `gtimeout`. */
function rowOf(program: string): Program | undefined {
  const name = nameOf(program);
  const row = knownPrograms.get(name);
  // `./test1` is a program of the project.
  if (row !== undefined || (program.includes("/") && !program.startsWith("/"))) return row;
  const unversioned = name.replace(/-?[\d.]+$/, "");
  const compiler = unversioned.slice(unversioned.lastIndexOf("-") + 1);
  const names = [unversioned, name.replace(/^g/, ""), unversioned.replace(/^g/, ""), compilers.has(compiler) ? compiler : name];
  const found = names.map((one) => knownPrograms.get(aliases.get(one) ?? one)).find((one) => one !== undefined);
  return found && guessed(found);
}

/** Asks where that program asks. Nothing more is free than of a program that is not known. */
function guessed({ options, read }: Program): Program {
  const none: ReadonlySet<number> = new Set();
  return {
    ...(options && { options }),
    read: (start) => {
      const reading = read(start);
      return {
        ...reading,
        effect: reading.effect === "write" ? "write" : "unknown",
        takesAnything: false,
        texts: none,
        reads: none,
      };
    },
  };
}

/** Folded as disks fold it, without a version behind it. */
function nameOf(program: string): string {
  const name = baseName(program).toLowerCase();
  // The loader itself starts whatever it is given.
  if (name.startsWith("ld-linux") || name.startsWith("ld-musl")) return "ld.so";
  const bare = name.endsWith(".exe") ? name.slice(0, -4) : name;
  return aliases.get(bare) ?? aliases.get(bare.replace(/[\d.]+$/, "")) ?? bare;
}

/** Often named after what they compile for: `x86_64-linux-gnu-gcc`. */
const compilers = nameSet("gcc g++ cc c++ clang clang++ cpp gfortran");

/** Reads what it is given. No argument makes it do anything else. */
const plainReader = plain("read");

/** Those of them that have a row of their own below are no plain readers. */
const plainReaders = nameSet(`
  ls dir vdir cat head tail wc cut tr nl tac rev paste join comm cmp diff stat du df md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum base32 od hexdump strings column fold fmt expand unexpand readlink realpath pathchk zcat
  bzcat xzcat zgrep grep egrep fgrep bc [ test`);

/** Nothing in their arguments is a path that they open, or does harm. */
const harmless = `
  echo true false : pwd basename dirname seq sleep whoami id groups uname nproc arch uptime who tty logname printenv yes factor
  expr type which whereis exit return break continue shift times caller tput ps free locale getconf dirs`;

const changesShell = "it changes the shell, or runs what it is given";
const reachesFar = "it reaches beyond files";
const writesFiles = "it writes where it is told to";
const movesData = "it moves data to or from other machines";

/** Programs that always need a person's eye, by why. They start programs, or change what later words start. */
const starting = {
  [changesShell]: `
      source . trap alias unalias hash shopt enable export declare typeset local readonly unset read mapfile readarray let getopts
      bind complete compgen compopt fc`,
  [reachesFar]: `
      su pkexec unshare nsenter systemctl systemd-run crontab at batch screen tmux osascript open xdg-open gdb lldb perf script
      expect entr dbus-send`,
  "an editor runs programs and writes files": `vi vim nvim gvim rvim view rview vimdiff ex ed red emacs emacsclient nano pico joe`,
  [writesFiles]: "rename",
  [movesData]: "ftp nc ncat netcat socat telnet rsh rlogin aria2c lynx w3m links",
  "it starts programs that cannot be judged": `
      dc m4 hyperfine chronic firejail setarch linux32 linux64 prlimit chrt taskset numactl rlwrap fakeroot proot bwrap runuser
      setpriv capsh start-stop-daemon run-parts dtach cgexec cpulimit ld.so ssh-agent ssh-add dbus-run-session faketime
      proxychains xvfb-run unbuffer catchsegv gosu su-exec sg runcon`,
};

/** The same for programs that start nothing. */
const acting = {
  [changesShell]: "history pushd popd ulimit umask wait disown bg fg suspend logout kill",
  [reachesFar]: "pkill killall reboot shutdown halt mount umount loginctl iptables insmod modprobe chattr setfacl",
  [writesFiles]: "ln link chmod chown chgrp truncate mkfifo mknod shred csplit patch 7z ar unlink",
  [movesData]: "tftp",
};

/** Those that start programs with some words alone, which stand behind why they ask. */
const startingWith: Readonly<Record<string, readonly [why: string, words: RegExp]>> = {
  set: [changesShell, /^(?![-+][efnuvx]*o?$|(?:pipefail|errexit|nounset|noglob|xtrace)$)/],
  install: [writesFiles, /^--s/],
  split: [writesFiles, /^--f/],
  rsync: [writesFiles, /^-[^-]*[eM]|^--(?:rs|rem)/],
  zip: [writesFiles, /^-.*T|^--?u/],
  cpio: [writesFiles, /^--rs/],
  wget: [movesData, /^-[^-]*e|^--(?:e|use-a|c)/],
  scp: [movesData, /^-[^-]*[DFJSo]/],
  sftp: [movesData, /^-[^-]*[DFJSbo]/],
};

const shells = `bash sh dash rbash zsh ksh mksh fish csh tcsh ash yash posh lksh oksh nu elvish xonsh pwsh powershell`;

const interpreters = `
  python pypy node deno bun perl ruby irb php lua luajit tclsh wish guile rscript r julia scala groovy swift ghci runghc ipython
  ts-node tsx`;

/** Later rows replace earlier ones. */
export const knownPrograms: ReadonlyMap<string, Program> = new Map([
  ...each(plainReaders, () => plainReader),
  ...each(nameSet(harmless), () => ({ read: () => ({ hatches: [], effect: "text", takesAnything: true }) })),
  ...Object.entries(starting).flatMap(([why, names]) => each(nameSet(names), () => asking(why, true))),
  ...Object.entries(acting).flatMap(([why, names]) => each(nameSet(names), () => asking(why, false))),
  ...Object.entries(startingWith).map(([name, row]) => [name, asking(...row)] as const),
  ...each(nameSet(shells), () => shell),
  ...each(nameSet(interpreters), interpreter),
  ...Object.entries({ ...wrappers, ...packageTools, ...databaseShells, ...readers, ...writers }),
  ...Object.entries({ cd: changeDirectory, eval: evaluate, printf, test, "[": test, git, find, tar }),
  // No GNU `perf`.
  ["gperf", plain("unknown")],
]);

function each(names: Iterable<string>, row: (name: string) => Program): readonly (readonly [string, Program])[] {
  return [...names].map((name) => [name, row(name)]);
}

/** Other names of programs. Those that lead to themselves are also known with a version behind them: `python3.13`. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...["gawk", "mawk", "nawk", "original-awk"].map((name) => [name, "awk"] as const),
  ...["sed", "find", "tar", "grep", "sort", "xargs", "make"].map((name) => [`g${name}`, name] as const),
  ...["gfortran", "gccgo", "cpp", "c89", "c99"].map((name) => [name, "gcc"] as const),
  ...Object.entries({ bfs: "find", fdfind: "fd", batcat: "bat", bsdtar: "tar", nodejs: "node" }),
  ...["python", "pypy", "perl", "ruby", "php", "lua", "bash", "node", "tclsh", "pip"].map((name) => [name, name] as const),
]);
