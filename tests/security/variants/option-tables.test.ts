import { createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noWall } from "../../host/command-bench.ts";
import { isInstalled, type PlayedRow, ShellAttacks, type ShellRow } from "./shell-attacks.ts";

/*
 * Commands that a rule allows and that would run, write, read or send something else by their options. Played with nobody to ask:
 * nothing may happen. Given to bash, each has its effect, or the row would prove nothing.
 */

const plugin = `printf '#include <stdlib.h>\\n__attribute__((constructor)) static void f(void) { system("touch ran"); }\\n' > p.c
[ -e ../p.so ] || gcc -shared -fPIC -o ../p.so p.c; cp ../p.so .; echo 'int main(void) { return 0; }' > x.c`;
const package_ = `echo '{"name":"x","version":"1.0.0"}' > package.json
echo '{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{}}' > package-lock.json`;
const makefile = "printf 'all:\\n\\t@echo made\\n' > Makefile";
const names = Array.from({ length: 600 }, (_, index) => `m${index}`).join(" ");

const attacks: readonly ShellRow[] = [
  // Modes of which the last one counts.
  { title: "bzip2 tests, and then unpacks", setup: "bzip2 a.txt", command: "bzip2 -t -d a.txt.bz2", needs: "bzip2" },
  { title: "bunzip2, in one word", setup: "bzip2 a.txt", command: "bunzip2 -td a.txt.bz2", needs: "bunzip2" },
  { title: "xz lists, and then unpacks", setup: "xz a.txt", command: "xz --list --decompress a.txt.xz", needs: "xz" },
  { title: "zstd, too", setup: "zstd -q --rm a.txt", command: "zstd -l -d a.txt.zst", needs: "zstd" },
  // Values that stand elsewhere than the table says.
  { title: "tree takes a value from the next word", command: "tree -Po x canary", needs: "tree" },
  { title: "two values, and then a file", command: "tree -ILo x 1 canary", needs: "tree" },
  { title: "the same behind another program", command: "timeout 5 tree -aPo x canary", needs: "tree" },
  { title: "an operand behind an option with `=`", setup: makefile, command: "make --debug=n SHELL=./evil.sh", needs: "make" },
  { title: "and behind the end of options", setup: makefile, command: "make -Otarget -- SHELL=./evil.sh", needs: "make" },
  { title: "a value in a word of its own", setup: package_, command: "npm audit --json true fix", needs: "npm" },
  { title: "an abbreviated option", setup: makefile, command: "make --ev='$(shell touch ran)'", needs: "make" },
  { title: "letters among others", command: "nice -n 1 sort -ruocanary a.txt" },
  { title: "a file that is called like an option", setup: "echo x > -ocanary", command: "sort *" },
  { title: "a file that is called like a predicate", setup: "mkdir s; touch s/-delete", command: "find *", cwd: "s" },
  { title: "fdfind starts a program for each file", command: "fdfind -Hx ./evil.sh", needs: "fdfind" },
  {
    title: "tar, abbreviated",
    setup: "tar -cf a.tar a.txt",
    command: "tar -tf a.tar --checkpoint=1 --checkpoint-act=exec='touch ran'",
  },
  // Languages inside of words.
  {
    title: "a function of sqlite3 runs an editor",
    command: `sqlite3 :memory: "select edit('x','touch ran #')"`,
    needs: "sqlite3",
  },
  {
    title: "quoted, in capitals, with a comment",
    command: `sqlite3 :memory: 'select "EDIT"/**/('"'x','touch ran #')"`,
    needs: "sqlite3",
  },
  { title: "another one writes", command: `sqlite3 :memory: "select WriteFile('canary','x')"`, needs: "sqlite3" },
  { title: "a command as an option's value", command: "sqlite3 -cmd '.shell touch ran' :memory: 'select 1'", needs: "sqlite3" },
  // Compilers and builders.
  { title: "gcc finds its parts elsewhere", setup: "cp evil.sh as; echo 'int x;' > x.c", command: "gcc --prefix=./ -c x.c" },
  { title: "gcc loads a plug-in for the linker", setup: plugin, command: "gcc -Wl,-O1,-plugin,./p.so x.c -o x" },
  { title: "in words of its own", setup: plugin, command: "gcc -Xlinker -plugin -Xlinker ./p.so x.c -o x" },
  { title: "by way of the preprocessor", setup: plugin, command: "gcc -Wp,-fplugin=./p.so -c x.c" },
  {
    title: "options from a file, for the linker",
    setup: `${plugin}; echo '-plugin ./p.so' > flags`,
    command: "gcc -Wl,@flags x.c -o x",
  },
  {
    title: "cmake loads a script first",
    setup: "echo 'execute_process(COMMAND touch ran)' > e.cmake",
    command: "cmake -Ce.cmake -N .",
    needs: "cmake",
  },
  // Patterns.
  {
    title: "a way out of the folder that a pattern names",
    setup: "mkdir scripts; echo 'require(`fs`).writeFileSync(`ran`, ``)' > evil.js",
    command: "node scripts/../evil.js",
  },
  {
    title: "the same with a dot",
    setup: "mkdir -p scripts/x; echo 'require(`fs`).writeFileSync(`ran`, ``)' > evil.js",
    command: "node scripts/./x/../../evil.js",
  },
];

/** Each has a folder `careful`, where writing asks, and one `private`, where reading asks. */
const approvals: readonly ShellRow[] = [
  { title: "cp is told where in the same word", command: "cp -tcareful a.txt" },
  { title: "mv is, among letters", command: "mv -vtcareful a.txt" },
  { title: "tar writes its archive, among letters", command: "tar -c -vfcareful/x.tar a.txt" },
  { title: "file reads names", command: "file -bfprivate/n.txt", needs: "file", prints: "topsecret" },
  { title: "date reads dates", command: "date -ufprivate/n.txt", prints: "topsecret" },
  { title: "cat reads it behind hundreds of other names", command: `cat ${names} private/n.txt`, prints: "topsecret" },
  { title: "cat reads it behind hundreds of letters", command: `cat -${"e".repeat(700)} private/n.txt`, prints: "topsecret" },
  { title: "curl reads a file", command: "curl -s file:FOLDER/private/n.txt", needs: "curl", prints: "topsecret" },
  {
    title: "jq reads a module of data",
    command: `jq -n 'import "n" as $d {search: "./private"}; $d'`,
    setup: "echo '\"topsecret\"' > private/n.json",
    needs: "jq",
    prints: "topsecret",
  },
  {
    title: "one of several addresses is a file",
    command: "curl -s '{,file:FOLDER/private/n.txt}'",
    needs: "curl",
    prints: "topsecret",
  },
];

const network: readonly ShellRow[] = [
  {
    title: "the last method counts",
    command: "curl -s -X GET -X DELETE http://127.0.0.1:PORT/a",
    sends: "DELETE /a",
    needs: "curl",
  },
  { title: "in words with others", command: "curl -sXGET -fXPOST http://127.0.0.1:PORT/b", sends: "POST /b", needs: "curl" },
  { title: "a header of a file", command: "curl -sH@a.txt http://127.0.0.1:PORT/c", sends: "GET /c", needs: "curl" },
  { title: "gawk connects where a file is expected", command: "gawk 1 /inet/tcp/0/127.0.0.1/PORT", sends: "", needs: "gawk" },
  { title: "also by a version of the protocol", command: "gawk 1 /inet4/tcp/0/127.0.0.1/PORT", sends: "", needs: "gawk" },
];

const honest: readonly ShellRow[] = [
  { title: "bzip2 tests", setup: "bzip2 a.txt", command: "bzip2 -tv a.txt.bz2", prints: "ok", needs: "bzip2" },
  { title: "xz lists", setup: "xz a.txt", command: "xz -l a.txt.xz", prints: "CRC64", needs: "xz" },
  { title: "zstd unpacks to its output", setup: "zstd -q a.txt", command: "zstd -dc a.txt.zst", prints: "one", needs: "zstd" },
  { title: "zcat", setup: "gzip a.txt", command: "zcat -f a.txt.gz", prints: "one" },
  { title: "zgrep", setup: "gzip a.txt", command: "zgrep -n one a.txt.gz", prints: "1:one" },
  { title: "tree with a depth and a pattern", command: "tree -L 1 -P '*.txt'", prints: "a.txt", needs: "tree" },
  { title: "tree with a depth, among letters", command: "tree -aL 1", prints: "a.txt", needs: "tree" },
  { title: "make", setup: makefile, command: "make -j2 --debug=n all", prints: "made", needs: "make" },
  { title: "sqlite3", command: "sqlite3 -safe :memory: 'select 6*7 as credit'", prints: "42", needs: "sqlite3" },
  { title: "npm", setup: package_, command: "npm ls --json", prints: '\\"name\\": \\"x\\"', needs: "npm" },
  {
    title: "a script of the folder",
    setup: "mkdir scripts; echo 'console.log(42)' > scripts/a.js",
    command: "node scripts/a.js",
    prints: "42",
  },
  {
    title: "a range of git's in a pattern's place",
    setup: "mkdir scripts; echo 'console.log(42)' > scripts/a..b.js",
    command: "node scripts/a..b.js",
    prints: "42",
  },
  {
    title: "gcc",
    setup: "echo 'int main(void) { return 0; }' > x.c",
    command: "gcc -O2 -Wall -Wl,-O1 -I./include x.c -o x && ls x",
    prints: "x",
  },
  { title: "cmake with a variable", command: "cmake -DCMAKE_BUILD_TYPE=Release --version", prints: "version", needs: "cmake" },
  { title: "gawk", command: "gawk -F: '{ print $1 \"/inet\" }' a.txt", prints: "one/inet", needs: "gawk" },
  {
    title: "jq with a key",
    setup: "echo '{\"include\":[42]}' > a.json",
    command: "jq -c '.include' a.json",
    prints: "[42]",
    needs: "jq",
  },
  { title: "date", command: "date -u -d @0 +%Y", prints: "1970" },
  { title: "cp with letters", setup: "mkdir t", command: "cp -rv a.txt t && ls t", prints: "a.txt" },
  { title: "keys of sort", command: "sort -t, -k1.1,1 a.txt", prints: "one" },
];

const rules =
  "bzip2, bunzip2, xz, zstd, zcat, zgrep, tree, timeout, nice, make, npm, sort, find, fdfind, tar -c, tar, sqlite3, gcc, cmake, node scripts/*, cp, mv, file, date, cat, ls, curl, gawk, jq".split(
    ", ",
  );

const missing = [...attacks, ...approvals, ...network, ...honest].flatMap(({ needs = "" }) =>
  needs !== "" && !isInstalled(needs) ? [needs] : [],
);
if (missing.length > 0) process.stderr.write(`\n*** NOT INSTALLED, SO NOT TESTED: ${[...new Set(missing)].join(", ")} ***\n\n`);
const installed = (rows: readonly ShellRow[]) => rows.filter(({ needs }) => needs === undefined || isInstalled(needs));
const indexed = (rows: readonly ShellRow[]) => installed(rows).map((row, index) => ({ ...row, index }));

let played: { readonly table: ShellAttacks; readonly rows: readonly PlayedRow[] } | undefined;
const playedRow = (index: number) => {
  const row = played?.rows[index];
  if (played === undefined || row === undefined) throw new Error("the rows were not played");
  return { ...row, table: played.table };
};

describe.skipIf(noWall !== "")("without a question", () => {
  describe("no option gets round a rule:", () => {
    beforeAll(() => playAll(attacks), 60_000);
    test.each(indexed(attacks))("$title", ({ index }) => {
      const { before, after, table } = playedRow(index);
      expect(after).toBe(before);
      expect(table.bash(index).after).not.toBe(before);
    });
  });

  describe("no option gets round an approval of a scope:", () => {
    const scopes = approvals.map((_, index) => [
      [`${index}/careful`, "mode: rw, write_approval: true"],
      [`${index}/private`, "mode: ro, read_approval: true"],
    ]);
    beforeAll(() => playAll(approvals, { scopes: Object.fromEntries(scopes.flat()) }), 60_000);
    test.each(indexed(approvals))("$title", ({ index, prints }) => {
      const { before, after, text, table } = playedRow(index);
      expect(after).toBe(before);
      if (prints !== undefined) expect(text).not.toContain(prints);
      const unguarded = table.bash(index);
      if (prints === undefined) expect(unguarded.after).not.toBe(before);
      else expect(unguarded.text).toContain(prints);
    });
  });

  describe("no option sends more than a rule allows:", () => {
    const heard: string[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      const at = heard.push("") - 1;
      socket.on("data", (data) => {
        heard[at] += data.toString();
      });
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nyes");
    });
    let heardGuarded: readonly string[] = [];
    const page = { title: "", command: "curl -sL -X GET 'http://localhost:PORT/page?a=[1-1]'", needs: "curl" };
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      await playAll([...network, page], { network: true, port });
      heardGuarded = [...heard];
    }, 60_000);
    afterAll(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    test.each(indexed(network))("$title", async ({ index, sends = "" }) => {
      expect(playedRow(index).outcome).toBe("denied");
      heard.length = 0;
      await playedRow(index).table.start(index);
      expect(heard).toEqual([expect.stringContaining(sends)]);
    });
    test("a page is fetched, and nothing else was", () => {
      expect(heardGuarded).toEqual(isInstalled("curl") ? [expect.stringContaining("GET /page?a=1")] : []);
    });
  });

  describe("honest uses of the same programs run:", () => {
    beforeAll(() => playAll(honest), 60_000);
    test.each(indexed(honest))("$title", ({ index, prints }) => {
      const { outcome, text } = playedRow(index);
      expect(outcome).toBe("ran");
      expect(text).toContain(prints);
    });
  });
});

const tables: ShellAttacks[] = [];
afterAll(() => {
  for (const table of tables) table.remove();
});

async function playAll(
  rows: readonly ShellRow[],
  more: Pick<ConstructorParameters<typeof ShellAttacks>[0], "network" | "port" | "scopes"> = {},
): Promise<void> {
  const table = new ShellAttacks({ rules, rows: installed(rows), ...more });
  tables.push(table);
  played = { table, rows: await table.play() };
}
