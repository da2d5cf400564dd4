import { baseName } from "../parse/scripts.ts";
import { readAwk } from "./awk.ts";
import { readCurl } from "./curl.ts";
import { readFind } from "./find.ts";
import { readGit } from "./git.ts";
import { readDatabaseShell, readInterpreter, readShell } from "./interpreters.ts";
import { packageTools } from "./packages.ts";
import { always, hatch, plain, type ReadProgram } from "./program.ts";
import { readSed } from "./sed.ts";
import * as small from "./small-tools.ts";
import { readTar } from "./tar.ts";
import { wrappers } from "./wrappers.ts";
import * as writers from "./writers.ts";

/** What is known of a program, by its name. Of others nothing is known: they do what the author of the rule says. */
export function programReader(program: string): ReadProgram {
  const name = nameOf(program);
  return readers.get(name) ?? unknownProgram;
}

/** Whether names that files happen to have could be taken for options that matter. */
export function fearsOptions(program: string): boolean {
  const name = nameOf(program);
  return readers.has(name) && !plainReaders.has(name);
}

/** Folded as disks fold it, without a version behind it. */
function nameOf(program: string): string {
  const name = baseName(program).toLowerCase();
  const bare = name.endsWith(".exe") ? name.slice(0, -4) : name;
  return aliases.get(bare) ?? aliases.get(bare.replace(/[\d.]+$/, "")) ?? bare;
}

const unknownProgram = plain("unknown");

/** They read what they are given, and no argument makes them do anything else. */
const plainReaders = new Set(
  `ls dir vdir cat head tail wc cut tr nl tac rev paste join comm cmp diff stat du df md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum base64 base32 od hexdump strings column fold fmt expand unexpand readlink realpath pathchk zcat
  bzcat xzcat zgrep grep egrep fgrep [ test`.split(/\s+/),
);

/** Nothing in their arguments is a path that they open, or does harm. */
const harmless =
  "echo true false : pwd basename dirname seq sleep whoami id groups uname nproc arch uptime who tty logname printenv yes factor expr type which whereis exit return break continue shift times caller tput ps free locale getconf dirs jobs".split(
    " ",
  );

const alwaysAsking: Readonly<Record<string, string>> = {
  "eval source . trap alias unalias hash set shopt enable export declare typeset local readonly unset read mapfile readarray let getopts bind complete compgen compopt fc history pushd popd ulimit umask wait disown bg fg suspend logout kill":
    "it changes the shell, or runs what it is given",
  "pkill killall reboot shutdown halt mount umount su pkexec unshare nsenter systemctl systemd-run crontab at batch screen tmux osascript open xdg-open gdb lldb perf script expect entr dbus-send loginctl iptables insmod modprobe chattr setfacl":
    "it reaches beyond files",
  "vi vim nvim gvim rvim view rview vimdiff ex ed red emacs emacsclient nano pico joe":
    "an editor runs programs and writes files",
  "ln link chmod chown chgrp install truncate mkfifo mknod shred split csplit patch rsync zip 7z ar cpio unlink rename":
    "it writes where it is told to",
  "wget scp sftp ftp tftp nc ncat netcat socat telnet rsh rlogin aria2c lynx w3m links":
    "it moves data to or from other machines",
  "dc m4 hyperfine chronic firejail setarch linux32 linux64 prlimit chrt taskset numactl rlwrap fakeroot proot bwrap runuser setpriv capsh start-stop-daemon run-parts dtach cgexec cpulimit ld.so ssh-agent ssh-add dbus-run-session faketime proxychains xvfb-run unbuffer":
    "it starts programs that cannot be judged",
};

const readers: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ...[...plainReaders].map((name): [string, ReadProgram] => [name, plain("read")]),
  ...harmless.map((name): [string, ReadProgram] => [name, () => ({ hatches: [], effect: "text", takesAnything: true })]),
  ...Object.entries(alwaysAsking).flatMap(([names, why]) =>
    names.split(" ").map((name): [string, ReadProgram] => [name, always(why)]),
  ),
  ...wrappers,
  ...packageTools,
  [
    "eval",
    ({ words }) => ({ hatches: [hatch("it runs its arguments as a script")], effect: "text", scripts: words.slice(1, 2) }),
  ],
  ["cd", readChangeDirectory()],
  ["git", readGit],
  ["find", readFind],
  ["sed", readSed],
  ["awk", readAwk],
  ["tar", readTar],
  ["curl", readCurl],
  ["grep", small.readGrep],
  ["egrep", small.readGrep],
  ["fgrep", small.readGrep],
  [
    "sort",
    small.readerBut("writes a file or runs a program", {
      letters: "oT",
      long: "--output --temporary-directory --compress-program --files0-from",
    }),
  ],
  [
    "rg",
    small.patternFirst(
      small.readerBut("runs a program", { letters: "z", long: "--pre --hostname-bin --search-zip" }),
      "efgtTABCmMdjrE",
    ),
  ],
  ["ag", small.patternFirst(small.readerBut("runs a program", { letters: "z", long: "--pager --search-zip" }), "ABCmGp")],
  ["ack", small.patternFirst(small.readerBut("runs a program", { letters: "x", long: "--pager --output --ackrc" }), "ABCm")],
  ["uniq", small.readUniq],
  ["xxd", small.readXxd],
  ["less", small.readPager],
  ["more", small.readPager],
  ["man", small.readMan],
  ["printf", small.readPrintf],
  ["test", small.readTest],
  ["[", small.readTest],
  ["jq", small.readJq],
  ["yq", small.readerBut("writes files", { letters: "is", long: "--inplace --in-place --split-exp" })],
  ["date", small.readDate],
  ["file", small.readerBut("writes a file or runs a program", { letters: "CzZ", long: "--compile --uncompress" })],
  ["tree", small.readerBut("writes a file", { letters: "oR" })],
  ["shuf", small.readerBut("writes a file", { letters: "o", long: "--output" })],
  ["iconv", small.readerBut("writes a file", { letters: "o", long: "--output" })],
  ["wc", small.readerBut("reads names from a file", { long: "--files0-from" })],
  ["gzip", small.readCompressor],
  ["gunzip", small.readCompressor],
  ["bzip2", small.readCompressor],
  ["xz", small.readCompressor],
  ["zstd", small.readCompressor],
  ["unzip", small.readUnzip],
  ["rm", writers.readRemove],
  ["mkdir", writers.readMakeDirectory],
  ["rmdir", writers.readRemoveDirectory],
  ["touch", writers.readTouch],
  ["tee", writers.readTee],
  ["cp", writers.readCopy],
  ["mv", writers.readMove],
  ["dd", writers.readDd],
  ...[
    "bash",
    "sh",
    "dash",
    "rbash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "nu",
    "elvish",
    "xonsh",
    "pwsh",
    "powershell",
  ].map((name): [string, ReadProgram] => [name, readShell]),
  ...[
    "python",
    "pypy",
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "irb",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "guile",
    "rscript",
    "r",
    "julia",
    "scala",
    "groovy",
    "swift",
    "ghci",
    "runghc",
    "ipython",
    "ts-node",
    "tsx",
  ].map((name): [string, ReadProgram] => [name, readInterpreter(name)]),
  ...["sqlite3", "psql", "mysql", "mariadb", "mongo", "mongosh", "redis-cli", "duckdb"].map((name): [string, ReadProgram] => [
    name,
    readDatabaseShell,
  ]),
]);

const aliases: ReadonlyMap<string, string> = new Map([
  ["gawk", "awk"],
  ["mawk", "awk"],
  ["nawk", "awk"],
  ["original-awk", "awk"],
  ["gsed", "sed"],
  ["gfind", "find"],
  ["bfs", "find"],
  ["gtar", "tar"],
  ["bsdtar", "tar"],
  ["ggrep", "grep"],
  ["gsort", "sort"],
  ["gxargs", "xargs"],
  ["nodejs", "node"],
  ["python", "python"],
  ["pypy", "pypy"],
  ["perl", "perl"],
  ["ruby", "ruby"],
  ["php", "php"],
  ["lua", "lua"],
  ["bash", "bash"],
]);

/** Moves what follows; the target is looked at as a path. */
function readChangeDirectory(): ReadProgram {
  return ({ words }) => {
    const [, target, ...more] = words;
    const isPlain = target?.kind === "static" && !target.value.startsWith("-") && more.length === 0;
    return { hatches: isPlain ? [] : [hatch("it goes where nobody can tell")], effect: "read" };
  };
}
