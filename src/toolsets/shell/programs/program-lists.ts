/** They read what they are given, and no argument makes them do anything else. */
export const plainReaders: ReadonlySet<string> = names(`
  ls dir vdir cat head tail wc cut tr nl tac rev paste join comm cmp diff stat du df md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum base64 base32 od hexdump strings column fold fmt expand unexpand readlink realpath pathchk zcat
  bzcat xzcat zgrep grep egrep fgrep bc [ test`);

/** Nothing in their arguments is a path that they open, or does harm. */
export const harmlessPrograms: ReadonlySet<string> = names(`
  echo true false : pwd basename dirname seq sleep whoami id groups uname nproc arch uptime who tty logname printenv yes factor
  expr type which whereis exit return break continue shift times caller tput ps free locale getconf dirs`);

export const shells: ReadonlySet<string> = names(`
  bash sh dash rbash zsh ksh mksh fish csh tcsh ash nu elvish xonsh pwsh powershell`);

export const interpreters: ReadonlySet<string> = names(`
  python pypy node deno bun perl ruby irb php lua luajit tclsh wish guile rscript r julia scala groovy swift ghci runghc ipython
  ts-node tsx`);

export const databaseShells: ReadonlySet<string> = names(`sqlite3 psql mysql mariadb mongo mongosh redis-cli duckdb`);

/** Programs that always need a person's eye, by why. */
export const askingPrograms: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    "it changes the shell, or runs what it is given",
    names(`
      eval source . trap alias unalias hash set shopt enable export declare typeset local readonly unset read mapfile readarray let
      getopts bind complete compgen compopt fc history pushd popd ulimit umask wait disown bg fg suspend logout kill`),
  ],
  [
    "it reaches beyond files",
    names(`
      pkill killall reboot shutdown halt mount umount su pkexec unshare nsenter systemctl systemd-run crontab at batch screen tmux
      osascript open xdg-open gdb lldb perf script expect entr dbus-send loginctl iptables insmod modprobe chattr setfacl`),
  ],
  [
    "an editor runs programs and writes files",
    names(`vi vim nvim gvim rvim view rview vimdiff ex ed red emacs emacsclient nano pico joe`),
  ],
  [
    "it writes where it is told to",
    names(`
      ln link chmod chown chgrp install truncate mkfifo mknod shred split csplit patch rsync zip 7z ar cpio unlink rename`),
  ],
  [
    "it moves data to or from other machines",
    names(`wget scp sftp ftp tftp nc ncat netcat socat telnet rsh rlogin aria2c lynx w3m links`),
  ],
  [
    "it starts programs that cannot be judged",
    names(`
      dc m4 hyperfine chronic firejail setarch linux32 linux64 prlimit chrt taskset numactl rlwrap fakeroot proot bwrap runuser
      setpriv capsh start-stop-daemon run-parts dtach cgexec cpulimit ld.so ssh-agent ssh-add dbus-run-session faketime
      proxychains xvfb-run unbuffer`),
  ],
]);

/** Other names of programs; those that lead to themselves are also known with a version behind them: `python3.13`. */
export const aliases: ReadonlyMap<string, string> = new Map([
  ...["gawk", "mawk", "nawk", "original-awk"].map((name) => [name, "awk"] as const),
  ...["sed", "find", "tar", "grep", "sort", "xargs", "make"].map((name) => [`g${name}`, name] as const),
  ["bfs", "find"],
  ["fdfind", "fd"],
  ["batcat", "bat"],
  ["bsdtar", "tar"],
  ["nodejs", "node"],
  ...["python", "pypy", "perl", "ruby", "php", "lua", "bash", "node", "tclsh", "pip"].map((name) => [name, name] as const),
]);

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((name) => name !== ""));
}
