import type { ShellWord } from "../parse/plan.ts";
import { findOption } from "./options.ts";
import { hatch, type Program, type Programs, type ProgramTraits, program, type ReadStart } from "./program.ts";

interface Wrapper extends Pick<ProgramTraits, "digits"> {
  /** Operands of its own before the program that it starts. */
  readonly skip?: number;
  /** Why it asks even where both it and what it starts are covered. */
  readonly why?: string;
  /** The program that it starts gets arguments that come from elsewhere. */
  readonly appends?: boolean;
  /** Operands that are its own. Default: `skip` of them. */
  readonly isOwn?: (operand: string) => boolean;
  /** It starts more than the program that stands in its words, or another one. */
  readonly hides?: (start: ReadStart, inner: readonly ShellWord[]) => boolean;
}

/** Starts another program, which is judged as if it stood alone. Its own options end at the first operand. */
function wrapper(
  options: string,
  { skip = 0, why, appends = false, isOwn = () => false, hides = () => false, ...traits }: Wrapper = {},
): Program {
  return program(options, {
    ...traits,
    stops: true,
    otherwise: "hides what it starts",
    look: (start) => {
      const { words, operands, values, unknown } = start;
      const hatches = why === undefined ? [] : [hatch(why)];
      if (unknown !== undefined) return { hatches, effect: "write", startsUnknown: true };
      const first = operands.find((_, at) => at >= skip && !isOwn(values[at] ?? ""));
      const inner = words.slice(first ?? words.length);
      // A dash where a program is expected is an option that another version has.
      const startsUnknown = inner[0]?.value.startsWith("-") === true || hides(start, inner);
      return { hatches, effect: "text", inner: startedBy(inner, appends), startsUnknown };
    },
  });
}

function startedBy(words: readonly ShellWord[], takesMore: boolean) {
  return words.length > 0 ? [{ words, mustBeCovered: true, takesMore }] : [];
}

/** The program, unless its words make it one that starts nothing and changes nothing. */
function unless(isIdle: (words: readonly ShellWord[]) => boolean, { options, read }: Program): Program {
  return { ...(options && { options }), read: (start) => (isIdle(start.words) ? { hatches: [], effect: "text" } : read(start)) };
}

/** Variables that name programs, or what those load or run. */
const programVariables =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS[0-4]|(?:LD|DYLD)_\w+|\w*(?:PAGER|EDITOR|VISUAL|BROWSER|SHELL|ASKPASS|COMMAND|LESSOPEN|LESSCLOSE)|GIT_(?:CONFIG|EXEC|SSH|EXTERNAL|TEMPLATE|PROXY)\w*|NODE_OPTIONS|PERL5\w+|RUBYOPT|PYTHON(?:PATH|STARTUP|HOME|BREAKPOINT)|MAKEFLAGS|RUSTC\w*|GOFLAGS)$/;

export function setsProgram(variable: string): boolean {
  return programVariables.test(variable);
}

const elsewhere = "it runs a program that cannot be judged here";

/** Programs that start others. */
export const wrappers: Programs = {
  timeout: wrapper("v|verbose k|kill-after= s|signal= preserve-status foreground help version", { skip: 1 }),
  nice: wrapper("n|adjustment= help version", { digits: true }),
  ionice: wrapper("t|ignore c|class= n|classdata= h|help V|version"),
  nohup: wrapper("help version"),
  stdbuf: wrapper("i|input= o|output= e|error= help version"),
  time: wrapper("p|portability v|verbose q|quiet f|format= !o|output= !a|append"),
  builtin: wrapper("", { why: "it reaches past functions" }),
  exec: wrapper("c l a=", { why: "it takes the shell's place" }),
  xargs: wrapper(
    `0|null r|no-run-if-empty t|verbose p|interactive x|exit o|open-tty I= i|replace? n|max-args= L= l|max-lines? P|max-procs=
    s|max-chars= d|delimiter= E= e|eof? a|arg-file= help version`,
    {
      why: "it starts a program with arguments that come from its input",
      appends: true,
      hides: (start, [program]) => {
        const marks = start.options.filter(({ name }) => name === "-I" || name === "-i").map(({ value = "{}" }) => value);
        return marks.some((mark) => program?.value.includes(mark) === true);
      },
    },
  ),
  setsid: wrapper("c|ctty f|fork w|wait h|help V|version", { why: "what it starts can outlive the call" }),
  watch: wrapper("b|beep d|differences? e|errexit g|chgexit t|no-title c|color x|exec w|no-wrap n|interval= h|help v|version", {
    why: "it starts a program again and again",
    // A shell reads its words, joined.
    hides: (start, inner) => findOption(start, "-x") === undefined && inner.some(({ value }) => !/^[\w./:=@%+,-]+$/.test(value)),
  }),
  sudo: wrapper("E n H S k K b i s u= g= C= p= r=", {
    why: "it starts a program with other rights",
    isOwn: (operand) => operand.includes("="),
    hides: ({ values }) => values.some((value) => setsProgram(value.split("=", 1)[0] ?? "")),
  }),
  doas: wrapper("n u=", { why: "it starts a program with other rights" }),
  chroot: wrapper("help version", { skip: 1, why: "it starts a program elsewhere" }),
  flock: wrapper(
    "s|shared x|e|exclusive u|unlock n|nb|nonblock F|no-fork w|wait|timeout= E|conflict-exit-code= verbose h|help V|version",
    { skip: 1, why: elsewhere },
  ),
  strace: wrapper("f|follow-forks q v|no-abbrev c|summary-only t T e= o|output= s|string-limit= p|attach=", {
    why: "it looks into another program",
    hides: ({ options }) => options.some(({ name, value }) => name === "-o" && /^[|!]/.test(value ?? "")),
  }),
  ltrace: wrapper("f c t e= o|output=", { why: "it looks into another program" }),
  busybox: wrapper("", { why: "it is many programs" }),
  toybox: wrapper("", { why: "it is many programs" }),
  parallel: wrapper("", { why: elsewhere, appends: true, hides: () => true }),
  ssh: wrapper("4 6 A a C f G g K k M N n q s T t V v X x Y y B= b= c= D= E= e= F= I= i= J= L= l= m= O= o= p= Q= R= S= W= w=", {
    skip: Number.POSITIVE_INFINITY,
    why: elsewhere,
    hides: () => true,
  }),
  env: unless(
    (words) => words.length === 1,
    wrapper("i|ignore-environment 0|null v|debug u|unset= !C|chdir=", {
      why: "it starts another program in another environment",
      isOwn: (operand) => operand === "-" || operand.includes("="),
      hides: ({ values }) => values.some((value) => setsProgram(value.split("=", 1)[0] ?? "")),
    }),
  ),
  // `-v NAME` and `-V NAME` show where a program is.
  command: unless(([, first]) => first?.value === "-v" || first?.value === "-V", wrapper("")),
};
