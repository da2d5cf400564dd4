import type { ShellWord } from "../parse/plan.ts";
import { optionTable } from "./options.ts";
import { type Hatch, hatch, type InnerCommand, type Program } from "./program.ts";

/** Predicates that only look. Those that run, delete and write are marked. */
const options = optionTable(
  `H L P daystart depth d follow ignore_readdir_race noignore_readdir_race mount xdev x X s E noleaf nowarn warn empty executable
  readable writable nogroup nouser print print0 ls prune quit true false and or not a o help --help version --version maxdepth=
  mindepth= regextype= amin= anewer= atime= cmin= cnewer= ctime= fstype= gid= group= ilname= iname= inum= ipath= iregex= iwholename=
  links= lname= mmin= mtime= name= newer= path= perm= printf= regex= samefile= size= type= uid= used= user= wholename= xtype= context=
  D= !delete !exec= !execdir= !ok= !okdir= !fprint= !fprint0= !fls= !fprintf== !files0-from=`,
  { style: "words" },
);

const paths = new Set(["-anewer", "-cnewer", "-newer", "-samefile"]);
const runners = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

/** Everything that is not known to look alone asks: predicates of other versions, and those that run, delete and write. */
export const find: Program = {
  options,
  read: ({ words }) => {
    const hatches: Hatch[] = [];
    const inner: InnerCommand[] = [];
    const texts = new Set<number>();
    for (let index = 1; index < words.length; index++) {
      const { value } = words[index] as ShellWord;
      const row = options.byName.get(value);
      const isKnown = row !== undefined && !row.isDangerous;
      if (!value.startsWith("-") || (isKnown && row.arity === "none") || isVariant(value)) continue;
      if (isKnown || isNewer(value)) {
        index++;
        if (!paths.has(value) && !isNewer(value)) texts.add(index);
        continue;
      }
      hatches.push(hatch(`\`${value}\` ${explain(value)}`));
      if (!runners.has(value)) continue;
      const end = words.findIndex(({ value: one }, at) => at > index && (one === ";" || one === "+"));
      inner.push({ words: words.slice(index + 1, end === -1 ? words.length : end), mustBeCovered: false });
      // Without an end all that follows is the program's.
      index = end === -1 ? words.length : end;
    }
    return { hatches, effect: "read", texts, inner };
  },
};

/** `-O3`: a level. */
function isVariant(value: string): boolean {
  return value.length === 3 && value.startsWith("-O");
}

/** `-newermt`. */
function isNewer(value: string): boolean {
  return /^-newer[aBcm][aBcmt]$/.test(value);
}

function explain(value: string): string {
  if (runners.has(value)) return "runs a program for each file";
  if (value === "-delete") return "removes files";
  if (value.startsWith("-f")) return "writes a file";
  return "is not known to be harmless";
}
