import { runsInput } from "./interpreters.ts";
import { findOption } from "./options.ts";
import { hatch, type Programs, type ProgramTraits, program, type ReadStart } from "./program.ts";

/** Words that run programs, load code and write files: functions of sqlite3, commands of mysql and duckdb, `COPY … TO PROGRAM`. */
const dangers: readonly RegExp[] = [
  /\b(?:edit|load_extension|fts3_tokenizer|writefile|readfile|to\s+program|from\s+program)\b/i,
  /(?:^|[;\n])\s*(?:system|source|tee|pager|install|load)\b/i,
  /^\.|\\/,
];

/** Database shells obey commands of their own, have options that run programs, and read files of further commands and options. */
function databaseShell(
  options: string,
  {
    takesFile,
    ...traits
  }: Pick<ProgramTraits, "style" | "stops" | "ends"> & { readonly takesFile?: (start: ReadStart) => boolean } = {},
) {
  return program(options, {
    ...traits,
    otherwise: "can run programs, or is not known to be harmless",
    look: (start) => {
      const { options: read, values, hasInput } = start;
      const texts = [...values, ...read.flatMap(({ value = [] }) => value)];
      const obeys = takesFile?.(start) === true || texts.some((text) => dangers.some((danger) => danger.test(text)));
      const hatches = [...(hasInput ? [runsInput] : []), ...(obeys ? [hatch("commands of its own can run programs")] : [])];
      return { hatches, effect: "unknown" };
    },
  });
}

/** The first operand is an address, unless its name is that of a script or there is no database. All others are scripts. */
function takesScript(start: ReadStart): boolean {
  const [first = "", ...others] = start.values;
  return (
    others.length > 0 || /\.(?:[cm]?[jt]s|mongodb)$/i.test(first) || (first !== "" && findOption(start, "--nodb") !== undefined)
  );
}

const ofFormats = `ascii bail batch box column csv echo header headers noheader html interactive json jsonlines line list markdown quote
  readonly safe table tabs version help newline= nullvalue= separator=`;

const mysql = databaseShell(
  `e|execute= h|host= u|user= P|port= p|password? D|database= N|skip-column-names B|batch s|silent t|table v|verbose r|raw E|vertical
  H|html X|xml q|quick f|force n|unbuffered b i A|no-auto-rehash C|compress S|socket= protocol= ssl? ssl-mode= default-character-set=
  connect-timeout= w|wait V|version`,
);

const mongosh = databaseShell(
  `quiet host= port= u|username= p|password? authenticationDatabase= authenticationMechanism= tls ssl norc nodb version h|help
  !eval= !f|file=`,
  { ends: false, takesFile: takesScript },
);

export const databaseShells: Programs = {
  sqlite3: databaseShell(`${ofFormats} nofollow stats utf8 escape=`, { style: "words" }),
  duckdb: databaseShell(`${ofFormats} c= s= no-stdin`, { style: "words" }),
  psql: databaseShell(
    `a|echo-all A|no-align b|echo-errors c|command= d|dbname= e|echo-queries E|echo-hidden F|field-separator= h|host= H|html l|list
    n|no-readline w|no-password p|port= q|quiet R|record-separator= s|single-step S|single-line t|tuples-only T|table-attr= U|username=
    v|set|variable= V|version W|password x|expanded X|no-psqlrc z|field-separator-zero 0|record-separator-zero 1|single-transaction csv`,
  ),
  mysql,
  mariadb: mysql,
  mongo: mongosh,
  mongosh,
  "redis-cli": databaseShell(
    `h= p= a= n= u= c r= i= s= d= D= e t= 2 3 user= pass= askpass no-auth-warning raw no-raw json csv stat latency scan pattern= count=
    bigkeys memkeys hotkeys tls sni= insecure verbose v|version help`,
    { stops: true, ends: false },
  ),
};
