import { type OptionTable, optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ProgramReading, type ReadProgram } from "./program.ts";

/** Options of programs that start others. All end at the first operand. */
export const wrapperOptions = {
  timeout: starting("v|verbose k|kill-after= s|signal= preserve-status foreground help version"),
  nice: optionTable("n|adjustment= help version", { stops: true, digits: true }),
  ionice: starting("t|ignore c|class= n|classdata= h|help V|version"),
  nohup: starting("help version"),
  stdbuf: starting("i|input= o|output= e|error= help version"),
  time: starting("p|portability v|verbose q|quiet f|format= !o|output= !a|append"),
  env: starting("i|ignore-environment 0|null v|debug u|unset= !C|chdir="),
  /** `-v` and `-V`, which start nothing, are looked for before. */
  command: starting(""),
  builtin: starting(""),
  exec: starting("c l a="),
  xargs: starting(
    `0|null r|no-run-if-empty t|verbose p|interactive x|exit o|open-tty I= i|replace? n|max-args= L= l|max-lines? P|max-procs=
    s|max-chars= d|delimiter= E= e|eof? a|arg-file= help version`,
  ),
  setsid: starting("c|ctty f|fork w|wait h|help V|version"),
  watch: starting("b|beep d|differences? e|errexit g|chgexit t|no-title c|color x|exec w|no-wrap n|interval= h|help v|version"),
  sudo: starting("E n H S k K b i s u= g= C= p= r="),
  doas: starting("n u="),
  chroot: starting("help version"),
  flock: starting(
    "s|shared x|e|exclusive u|unlock n|nb|nonblock F|no-fork w|wait|timeout= E|conflict-exit-code= verbose h|help V|version",
  ),
  strace: starting("f|follow-forks q v|no-abbrev c|summary-only t T e= o|output= s|string-limit= p|attach="),
  ltrace: starting("f c t e= o|output="),
  busybox: starting(""),
  toybox: starting(""),
  parallel: starting(""),
  ssh: starting("4 6 A a C f G g K k M N n q s T t V v X x Y y B= b= c= D= E= e= F= I= i= J= L= l= m= O= o= p= Q= R= S= W= w="),
} as const;

function starting(rows: string): OptionTable {
  return optionTable(rows, { stops: true });
}

interface Wrapper {
  /** Operands of its own before the program that it starts. */
  readonly skip?: number;
  /** Why it asks even where both it and what it starts are covered. */
  readonly why?: string;
  /** What it starts gets arguments that come from elsewhere. */
  readonly appends?: boolean;
}

/** Starts another program, which is judged as if it stood alone. */
function wrapper(table: OptionTable, { skip = 0, why, appends = false }: Wrapper = {}): ReadProgram {
  return ({ words }) => {
    const { operands, unknown } = readOptions(words, table);
    const hatches: Hatch[] = [];
    if (why !== undefined) hatches.push(hatch(why));
    if (unknown !== undefined)
      return { hatches: [...hatches, hatch(`\`${unknown}\` hides what it starts`)], effect: "write", startsUnknown: true };
    return started(words.slice(operands[skip] ?? words.length), { hatches, takesMore: appends });
  };
}

function started(
  words: ProgramWords,
  { hatches, takesMore }: { readonly hatches: readonly Hatch[]; readonly takesMore: boolean },
): ProgramReading {
  return { hatches, effect: "text", inner: words.length > 0 ? [{ words, mustBeCovered: true, takesMore }] : [] };
}

type ProgramWords = NonNullable<ProgramReading["inner"]>[number]["words"];

const readEnv: ReadProgram = ({ words }) => {
  if (words.length === 1) return { hatches: [], effect: "text" };
  const { operands, unknown } = readOptions(words, wrapperOptions.env);
  const hatches = [hatch("it starts another program in another environment")];
  if (unknown !== undefined)
    return { hatches: [...hatches, hatch(`\`${unknown}\` hides what it starts`)], effect: "write", startsUnknown: true };
  const at = operands.find((index) => words[index]?.value.includes("=") === false);
  return started(words.slice(at ?? words.length), { hatches, takesMore: false });
};

/** `command -v NAME` only tells where it is. */
const readCommand: ReadProgram = (start) => {
  const asks = start.words[1]?.value === "-v" || start.words[1]?.value === "-V";
  return asks ? { hatches: [], effect: "text" } : wrapper(wrapperOptions.command)(start);
};

/** What others type into a shell of theirs. */
const elsewhere = "it runs a program that cannot be judged here";

const wrapping: Readonly<Record<Exclude<keyof typeof wrapperOptions, "env" | "command">, Wrapper>> = {
  timeout: { skip: 1 },
  nice: {},
  ionice: {},
  nohup: {},
  stdbuf: {},
  time: {},
  builtin: { why: "it reaches past functions" },
  exec: { why: "it takes the shell's place" },
  xargs: { why: "it starts a program with arguments that come from its input", appends: true },
  setsid: { why: "what it starts can outlive the call" },
  watch: { why: "it starts a program again and again" },
  sudo: { why: "it starts a program with other rights" },
  doas: { why: "it starts a program with other rights" },
  chroot: { skip: 1, why: "it starts a program elsewhere" },
  flock: { skip: 1, why: elsewhere },
  strace: { why: "it looks into another program" },
  ltrace: { why: "it looks into another program" },
  busybox: { why: "it is many programs" },
  toybox: { why: "it is many programs" },
  parallel: { why: elsewhere, appends: true },
  ssh: { skip: Number.POSITIVE_INFINITY, why: elsewhere },
};

export const wrappers: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ...Object.entries(wrapping).map(([name, traits]): [string, ReadProgram] => [
    name,
    wrapper(wrapperOptions[name as keyof typeof wrapping], traits),
  ]),
  ["env", readEnv],
  ["command", readCommand],
]);
