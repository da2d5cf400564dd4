import { baseName } from "../parse/scripts.ts";
import { readAwk } from "./awk.ts";
import { readCurl } from "./curl.ts";
import { readFind } from "./find.ts";
import { readGit } from "./git.ts";
import { readDatabaseShell, readInterpreter, readShell } from "./interpreters.ts";
import { packageTools } from "./packages.ts";
import { always, plain, type ReadProgram } from "./program.ts";
import * as lists from "./program-lists.ts";
import { readSed } from "./sed.ts";
import { readChangeDirectory, readEval } from "./shell-words.ts";
import { smallTools } from "./small-tools.ts";
import { readTar } from "./tar.ts";
import { wrappers } from "./wrappers.ts";
import { writers } from "./writers.ts";

/** What is known of a program, by its name. Of others nothing is known: they do what the author of the rule says. */
export function programReader(program: string): ReadProgram {
  return readers.get(nameOf(program)) ?? unknownProgram;
}

/** Whether names that files happen to have could be taken for options that matter. */
export function fearsOptions(program: string): boolean {
  const name = nameOf(program);
  return readers.has(name) && !lists.plainReaders.has(name);
}

/** Folded as disks fold it, without a version behind it. */
function nameOf(program: string): string {
  const name = baseName(program).toLowerCase();
  // The loader itself starts whatever it is given.
  if (name.startsWith("ld-linux") || name.startsWith("ld-musl")) return "ld.so";
  const bare = name.endsWith(".exe") ? name.slice(0, -4) : name;
  return lists.aliases.get(bare) ?? lists.aliases.get(bare.replace(/[\d.]+$/, "")) ?? bare;
}

const unknownProgram = plain("unknown");
const readHarmless: ReadProgram = () => ({ hatches: [], effect: "text", takesAnything: true });

/** Later ones replace earlier ones. */
const readers: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ...each(lists.plainReaders, () => plain("read")),
  ...each(lists.harmlessPrograms, () => readHarmless),
  ...[...lists.askingPrograms].flatMap(([why, names]) => each(names, () => always(why))),
  ...each(lists.shells, () => readShell),
  ...each(lists.interpreters, readInterpreter),
  ...each(lists.databaseShells, () => readDatabaseShell),
  ...wrappers,
  ...packageTools,
  ...smallTools,
  ...writers,
  ["eval", readEval],
  ["cd", readChangeDirectory],
  ["git", readGit],
  ["find", readFind],
  ["sed", readSed],
  ["awk", readAwk],
  ["tar", readTar],
  ["curl", readCurl],
]);

function each(names: ReadonlySet<string>, reader: (name: string) => ReadProgram): readonly (readonly [string, ReadProgram])[] {
  return [...names].map((name) => [name, reader(name)]);
}
