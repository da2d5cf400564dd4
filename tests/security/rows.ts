/** A test that plays an attack and looks for its effect: its file from the repository's root, and its name as it is written there. */
export interface ExecutingTest {
  readonly file: string;
  readonly name: string;
}

/** A way in which a system of this kind was broken, and the tests that try the same on this one. */
export interface Row {
  readonly ids: readonly string[];
  readonly what: string;
  readonly tests: readonly ExecutingTest[];
}

const at = (file: string) => (name: string) => ({ file, name });
const files = at("tests/security/file-tools.test.ts");
const races = at("tests/security/races.test.ts");
const commands = at("tests/security/commands.test.ts");
const untrusted = at("tests/security/untrusted-program.test.ts");
const addresses = at("tests/security/addresses.test.ts");
const processes = at("tests/security/processes.test.ts");
const questions = at("tests/security/questions.test.ts");
const texts = at("tests/security/approval-text.test.ts");
const terminal = at("tests/cli/approval-terminal.test.ts");
const wall = at("tests/host/commands-wall.test.ts");
const host = at("tests/host/attacks.test.ts");

const shellRows = at("tests/security/shell-rows.test.ts");

/** A row of the table of commands, played through whole runs. */
const shell = (row: string): readonly ExecutingTest[] => [shellRows(row)];

export const rows: readonly Row[] = [
  {
    ids: ["CVE-2025-54794", "GHSA-pmw4-pwvc-3hx2"],
    what: "a directory check by string prefix: a sibling with the same prefix passed",
    tests: [
      files("neither reads nor writes a sibling whose name begins alike"),
      files("rejects every spelling that leads out: dots, escapes, slashes of other alphabets, drives, URLs"),
    ],
  },
  {
    ids: ["CVE-2025-54795", "GHSA-x56v-x2h6-7j34"],
    what: "text after an allowed echo executed",
    tests: shell("CVE-2025-54795"),
  },
  {
    ids: ["CVE-2025-55284", "GHSA-x5gv-jw7f-j6xj"],
    what: "a broad list of safe programs read a file and sent it out",
    tests: [
      ...shell("CVE-2025-55284"),
      commands("reaches no listener of this machine, and resolves no name"),
      commands("gets no secret of the environment, by name, from a process or through an answer"),
    ],
  },
  {
    ids: ["CVE-2025-58764", "GHSA-qxfv-fcpc-w36x"],
    what: "options of rg executed a program",
    tests: shell("CVE-2025-58764"),
  },
  {
    ids: ["CVE-2025-66032", "GHSA-xq4m-mc3c-vvg3"],
    what: "$IFS and short options",
    tests: shell("CVE-2025-66032"),
  },
  {
    ids: ["CVE-2025-64755", "GHSA-7mv8-j34q-vp7q", "CVE-2026-25723", "GHSA-mhg7-666j-cqg4"],
    what: "sed wrote files, also fed by a pipe",
    tests: shell("CVE-2025-64755, CVE-2026-25723"),
  },
  {
    ids: ["CVE-2026-24887", "GHSA-qgqw-h4xq-7w8w", "Claude Code 2.1.113, find"],
    what: "find executed and deleted under a rule for find",
    tests: shell("CVE-2026-24887"),
  },
  {
    ids: ["CVE-2026-24053", "GHSA-q728-gf8j-w49r", "Claude Code 2.1.221, zsh", "Claude Code 2.1.238"],
    what: "syntax of another shell than the one that was analysed",
    tests: shell("CVE-2026-24053"),
  },
  {
    ids: ["CVE-2026-25722", "GHSA-66q4-vfjg-2qhh"],
    what: "cd into a protected folder, then write",
    tests: shell("CVE-2026-25722"),
  },
  {
    ids: ["CVE-2026-25724", "GHSA-4q92-rfm6-2cqx"],
    what: "a rule was checked on the link, not on its target",
    tests: [
      files("refuses a link with a harmless name to a file that asks"),
      files("does not write through a hard link to a file outside"),
      ...shell("CVE-2026-25724"),
    ],
  },
  {
    ids: ["CVE-2026-39861", "GHSA-vp62-r36r-9xqp"],
    what: "a command in the sandbox planted a link, the file tool followed it",
    tests: [
      commands("cannot make file tools follow links that it plants"),
      commands("cannot read hidden files by copies or links of their folders"),
      wall("keeps file tools from following a link that a command made"),
    ],
  },
  {
    ids: ["CVE-2026-25725", "GHSA-ff64-7w26-62rf"],
    what: "a protected file that did not exist yet could be made",
    tests: [
      files("are not made without a question, though writing is pre-approved"),
      files("of the program itself are refused even if everything is approved"),
      files("are refused if nobody can be asked"),
      commands("cannot leave protected names behind"),
      ...shell("CVE-2026-25725"),
    ],
  },
  {
    ids: ["CVE-2025-59536", "CVE-2026-21852", "CVE-2025-61260"],
    what: "a project's configuration ran code or changed the provider's address before it was trusted",
    tests: [
      untrusted("%s: nothing of it runs, and nothing is reached"),
      addresses("$model: no setting of a worker file sends it elsewhere"),
      addresses("cannot be sent by a trusted program to an address of its own"),
    ],
  },
  {
    ids: ["CVE-2026-24052", "GHSA-vhw5-3g5m-8ggf"],
    what: "a trusted host was checked by prefix",
    tests: [addresses("$model: goes to no address that only looks like its own")],
  },
  {
    ids: [
      "Claude Code 2.1.6",
      "Claude Code 2.1.38",
      "Claude Code 2.1.98",
      "Claude Code 2.1.214",
      "Claude Code 2.1.216",
      "Claude Code 2.1.223",
    ],
    what: "line continuation, here-documents, backslashes in options, descriptors, redirections in lists, over-long commands, words",
    tests: [...shell("logs 2.1.6 to 2.1.223"), ...shell("logs 2.1.113 to 2.1.236"), ...shell("50 parts")],
  },
  {
    ids: [
      "Claude Code 2.1.113",
      "Claude Code 2.1.211",
      "Claude Code 2.1.223, padding",
      "Claude Code 2.1.235",
      "Claude Code 2.1.236",
    ],
    what: "a first line, invisible characters or padding hid a part of the question; a key pressed before it counted",
    tests: [
      questions("in a command: %s"),
      questions("in a path: names that end a line, move the cursor or turn the direction"),
      questions("in a worker call: the whole input, beside attachments too"),
      texts("hold exactly the text that runs, and no control characters"),
      texts("show a command to its end, whatever precedes it"),
      questions("is escaped by every command, whatever it names"),
      terminal("drops what was typed before the question was there"),
      terminal("counts what it leaves out of a long file, shows it when asked to, and remembers nothing before that"),
    ],
  },
  {
    ids: ["50-part cap"],
    what: "beyond a number of parts, rules were not checked any more",
    tests: [...shell("50 parts"), questions("in a command: %s")],
  },
  {
    ids: ["CVE-2025-59532", "GHSA-w5fx-fh39-j5rw"],
    what: "the working directory that the model chose became writable",
    tests: [commands("writes only to folders that are writable, whatever folder it starts in"), shellRows("CVE-2025-59532")],
  },
  {
    ids: ["CVE-2026-19592", "CVE-2026-19593"],
    what: "reading git's metadata ran a helper that the repository names",
    tests: [
      untrusted("%s: nothing of it runs, and nothing is reached"),
      commands("runs programs that a repository's configuration names only where they can do no harm"),
      shellRows("CVE-2026-19592, drivers"),
      shellRows("CVE-2026-19593, command line"),
      shellRows("CVE-2026-19592, hooks: a commit that a rule allows is made, and runs none"),
      ...shell("CVE-2026-19592, CVE-2026-19593"),
    ],
  },
  {
    ids: ["CVE-2025-53109", "CVE-2025-53110", "GHSA-q66q-fx2p-7w4m", "GHSA-hc55-p739-j48w"],
    what: "a file server: siblings of the same prefix, links",
    tests: [
      files("neither reads nor writes a sibling whose name begins alike"),
      files("follows no link below a scope, with any tool"),
      files("keeps patterns of lists and searches below the folder"),
    ],
  },
  {
    ids: ["GHSA-53mr-w429-c597", "GHSA-p9cv-8g75-4xcg", "GHSA-7m4x-rv66-mxhh", "GHSA-7rgq-gccq-qphx", "GHSA-4gxg-m5jx-9j57"],
    what: "a file server: a folder swapped between check and use; the check trimmed what the use kept; letter case",
    tests: [
      races("replaces a folder by a link, under thousands of calls of all file tools"),
      races("replaces a file by a link, under thousands of reads, writes and edits"),
      races("%s: an approved %s changes nothing"),
      host("keep reads, lists and looks inside"),
      host("keep writes inside"),
      files("makes a file under exactly the name that was shown, byte for byte"),
      files("rejects scopes with blanks, other case or other Unicode forms"),
      files("applies suffixes in any case, to the name that is opened"),
      files("refuses a pipe, a socket and devices at once, with every tool"),
    ],
  },
  {
    ids: ["CVE-2025-68144", "GHSA-9xwc-hfwc-8w59", "CVE-2025-68143", "CVE-2025-68145", "CVE-2026-27735"],
    what: "values that begin with - became options; paths outside of the repository",
    tests: [...shell("CVE-2025-68144"), files("makes a file under exactly the name that was shown, byte for byte")],
  },
  {
    ids: ["CVE-2025-57771", "CVE-2025-58370", "CVE-2025-65946", "CVE-2026-110206"],
    what: "a single &, process substitution, indirect expansion, substitution in the program's place",
    tests: shell("CVE-2025-57771, 58370, 65946, CVE-2026-110206"),
  },
  {
    ids: ["CVE-2026-22708"],
    what: "built-ins changed what later, allowed commands did",
    tests: shell("CVE-2026-22708"),
  },
  {
    ids: ["CVE-2026-30305", "CVE-2026-30314"],
    what: "a substitution within an allowed option",
    tests: shell("CVE-2026-30305, CVE-2026-30314"),
  },
  {
    ids: ["gemini-cli 11510", "gemini-cli 11766"],
    what: "only the first command was looked at",
    tests: shell("gemini-cli 11510, 11766"),
  },
  {
    ids: ["CVE-2026-22812", "CVE-2025-52882"],
    what: "a local port without authentication",
    tests: [processes("accepts no connection during a run with three children"), processes("detects an open port")],
  },
  {
    ids: ["CVE-2026-25580", "CVE-2026-46678"],
    what: "attachments by URL reached internal addresses",
    tests: [
      addresses("fetches and sends nothing for a model"),
      addresses("fetches and sends nothing for a person, by input and on the command line"),
    ],
  },
  {
    ids: ["CVE-2026-114386"],
    what: "a budget of calls did not hold for nested calls",
    tests: [
      processes("makes no more files than %i calls allow, however deep they are nested"),
      processes("counts the tokens of children's requests"),
    ],
  },
  {
    ids: ["sandbox-runtime, empty allow-list", "sandbox-runtime, SOCKS name with NUL", "sandbox-runtime, DNS"],
    what: "empty was read as no limit; two layers read one name differently; names were looked up",
    tests: [
      files("grants nothing for empty limits: no scope, no rule, no folder"),
      files("rejects every spelling that leads out: dots, escapes, slashes of other alphabets, drives, URLs"),
      commands("reaches no listener of this machine, and resolves no name"),
      wall("refuses TCP to this machine without network, and allows it with network"),
      wall("UDP to this machine"),
    ],
  },
];
