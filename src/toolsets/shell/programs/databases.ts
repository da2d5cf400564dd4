import { nameSet } from "../../../util/name-set.ts";
import { runsInput } from "./interpreters.ts";
import { findOption } from "./options.ts";
import { type Hatch, hatch, type Programs, type ProgramTraits, program, type ReadStart, runs } from "./program.ts";

/** Words that run programs, load code and reach files, also those of the server: functions, statements, commands of a client. */
const dangers: readonly RegExp[] = [
  /\b(?:edit|load_extension|fts3_tokenizer|writefile|readfile|fsdir|lsmode|zipfile\w*|attach|vacuum|delimiter)\b/i,
  /\b(?:(?:to|from)\s+program|outfile|dumpfile|load_file|sys_exec|sys_eval|lo_import|lo_export|pg_(?:read|ls|stat_file|file|create|copy)\w*)\b/i,
  // These run a text, and escapes spell a name in another way.
  /\b(?:dblink\w*|query_to_\w+|crosstab\w*|ts_stat|ts_rewrite|uescape)\b|\bu&/i,
  /\b(?:insert|update|delete|merge)\b.*\b(?:pg_|mysql\b)/is,
  /(?:^|[;\n])\s*(?:system|source|tee|pager|install|load)\b/i,
  /^\.[a-z]|\\/i,
];

function isDangerous(text: string): boolean {
  return dangers.some((danger) => danger.test(text));
}

/** Reasons to ask for texts that are more than one statement of the kinds that `begins` names. */
function lookAtSql({ words }: ReadStart, texts: readonly string[], begins: RegExp): readonly Hatch[] {
  const isPlain = texts
    .map((text) => text.trim().replace(/;$/, ""))
    .every((text) => begins.test(text) && !/;|--|\/\*/.test(text));
  // A glob can mean any text.
  return isPlain && words.every(({ kind }) => kind === "static") ? [] : [hatch("its SQL is not one plain statement")];
}

function valuesOf({ options }: ReadStart, wanted: string): readonly string[] {
  return options.flatMap(({ name, value = "" }) => (name === wanted ? [value] : []));
}

/** Without insertions: a virtual table that the database holds can write an archive anywhere. */
const sqliteBegins =
  /^(?:select|values|explain|with(?!.*\b(?:insert|update|delete|replace)\b)|pragma\s+\w+_(?:list|x?info|check))\b/is;
const psqlBegins = /^(?:select|insert|update|delete|with|values|table|show|explain)\b/i;
const mysqlBegins = /^(?:select|insert|update|delete|with|values|table|show|explain|describe|desc|use)\b(?!.*#)/is;

/** The database can hold views that run programs. `-safe` refuses them, but not all that reads and writes files. */
function lookAtSqlite(start: ReadStart): readonly Hatch[] {
  const [file = "", ...texts] = start.values;
  if (findOption(start, "-version", "-help") !== undefined) return [];
  return [
    ...(findOption(start, "-safe") === undefined ? [hatch("the database itself can run programs; add -safe")] : []),
    ...(file.startsWith("file:") ? [hatch("its address can mean any file")] : []),
    ...lookAtSql(start, texts, sqliteBegins),
  ];
}

/** Other parameters of a connection name files, and even code to load. */
const plainParameters = nameSet(
  "host hostaddr port dbname user password connect_timeout application_name client_encoding sslmode",
);

function lookAtPsql(start: ReadStart): readonly Hatch[] {
  const keys = [...start.values, ...valuesOf(start, "-d")].flatMap((name) =>
    [...name.matchAll(/([\w%]+)\s*=/g)].map(([, key = ""]) => key),
  );
  const strange = keys.find((key) => !plainParameters.has(key));
  return [
    ...(strange === undefined ? [] : [hatch(`\`${strange}\` of its connection is not known to be harmless`)]),
    ...lookAtSql(start, valuesOf(start, "-c"), psqlBegins),
  ];
}

interface DatabaseTraits extends Pick<ProgramTraits, "style" | "stops" | "ends"> {
  readonly inspect?: (start: ReadStart) => readonly Hatch[];
}

/** Database shells obey commands of their own, have options that run programs, and read files of further commands and options. */
function databaseShell(options: string, { inspect, ...traits }: DatabaseTraits = {}) {
  return program(options, {
    ...traits,
    otherwise: "can run programs, or is not known to be harmless",
    runs: /^-/,
    look: (start) => {
      const { options: read, values, hasInput } = start;
      const obeys = [...values, ...read.flatMap(({ value = [] }) => value)].some(isDangerous);
      const ofWords = [...(obeys ? [obeysCommands] : []), ...(inspect?.(start) ?? [])];
      return { hatches: [...(hasInput ? [runsInput] : []), ...ofWords], effect: "unknown" };
    },
  });
}

const obeysCommands = runs("commands of its own can run programs");

/** The first operand is an address, unless its name is that of a script or there is no database. All others are scripts. */
function lookAtMongo(start: ReadStart): readonly Hatch[] {
  const [first = "", ...others] = start.values;
  const takesScript =
    others.length > 0 || /\.(?:[cm]?[jt]s|mongodb)$/i.test(first) || (first !== "" && findOption(start, "--nodb") !== undefined);
  return takesScript ? [obeysCommands] : [];
}

const mysql = databaseShell(
  `e|execute= h|host= u|user= P|port= p|password? D|database= N|skip-column-names B|batch s|silent t|table v|verbose r|raw E|vertical
  H|html X|xml q|quick f|force n|unbuffered b i A|no-auto-rehash C|compress S|socket= protocol= ssl? ssl-mode= default-character-set=
  connect-timeout= w|wait V|version`,
  { inspect: (start) => lookAtSql(start, valuesOf(start, "-e"), mysqlBegins) },
);

const mongosh = databaseShell(
  `quiet host= port= u|username= p|password? authenticationDatabase= authenticationMechanism= tls ssl norc nodb version h|help
  !eval= !f|file=`,
  { ends: false, inspect: lookAtMongo },
);

const redisDangers =
  /^(?:config\s+(?!get\b)|(?:eval\w*|module|script|function|fcall\w*|debug|slaveof|replicaof|migrate|restore|(?:bg)?save|bgrewriteaof)\b)/i;

export const databaseShells: Programs = {
  sqlite3: databaseShell(
    `ascii bail batch box column csv echo header headers noheader html interactive json jsonlines line list markdown quote readonly safe
    table tabs version help newline= nullvalue= separator= nofollow stats utf8 escape=`,
    { style: "words", inspect: lookAtSqlite },
  ),
  duckdb: databaseShell("version help", {
    style: "words",
    inspect: ({ options, values }) =>
      options.length > 0 && values.length === 0 ? [] : [hatch("its SQL reads and writes any file that it names")],
  }),
  psql: databaseShell(
    `a|echo-all A|no-align b|echo-errors c|command= d|dbname= e|echo-queries E|echo-hidden F|field-separator= h|host= H|html l|list
    n|no-readline w|no-password p|port= q|quiet R|record-separator= s|single-step S|single-line t|tuples-only T|table-attr= U|username=
    v|set|variable= V|version W|password x|expanded X|no-psqlrc z|field-separator-zero 0|record-separator-zero 1|single-transaction csv`,
    { inspect: lookAtPsql },
  ),
  mysql,
  mariadb: mysql,
  mongo: mongosh,
  mongosh,
  "redis-cli": databaseShell(
    `h= p= a= n= u= c r= i= s= d= D= e t= 2 3 user= pass= askpass no-auth-warning raw no-raw json csv stat latency scan pattern= count=
    bigkeys memkeys hotkeys tls sni= insecure verbose v|version help`,
    {
      stops: true,
      ends: false,
      inspect: ({ values }) =>
        redisDangers.test(values.join(" ")) ? [hatch("the server writes files or runs code with this")] : [],
    },
  ),
};
