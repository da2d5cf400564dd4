import { type OptionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ProgramReading, type ReadProgram } from "./program.ts";

interface Wrapper extends OptionTable {
  /** Operands of its own before the program that it starts. */
  readonly skip?: number;
  /** Why it asks even where both it and what it starts are covered. */
  readonly why?: string;
  /** What it starts gets arguments that come from elsewhere. */
  readonly appends?: boolean;
}

/** Starts another program, which is judged as if it stood alone. */
function wrapper(table: Wrapper): ReadProgram {
  return ({ words }) => {
    const { operands, unknown } = readOptions(words, { ...table, stops: true });
    const hatches: Hatch[] = [];
    if (table.why !== undefined) hatches.push(hatch(table.why));
    if (unknown !== undefined)
      return { hatches: [...hatches, hatch(`\`${unknown}\` hides what it starts`)], effect: "write", startsUnknown: true };
    const rest = words.slice(operands[table.skip ?? 0] ?? words.length);
    return started(rest, { hatches, takesMore: table.appends ?? false });
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
  const { operands, unknown } = readOptions(words, {
    flags: "i0v",
    valued: "u",
    longValued: "--unset",
    long: "--null",
    stops: true,
  });
  const hatches = [hatch("it starts another program in another environment")];
  if (unknown !== undefined)
    return { hatches: [...hatches, hatch(`\`${unknown}\` hides what it starts`)], effect: "write", startsUnknown: true };
  const at = operands.find((index) => words[index]?.value.includes("=") === false);
  return started(words.slice(at ?? words.length), { hatches, takesMore: false });
};

/** `command -v NAME` only tells where it is. */
const readCommand: ReadProgram = (start) => {
  const asks = start.words[1]?.value === "-v" || start.words[1]?.value === "-V";
  return asks ? { hatches: [], effect: "text" } : wrapper({ flags: "" })(start);
};

/** What others type into a shell of theirs. */
const elsewhere = "it runs a program that cannot be judged here";

const asking: Readonly<Record<string, Wrapper>> = {
  builtin: { why: "it reaches past functions" },
  exec: { flags: "cl", valued: "a", why: "it takes the shell's place" },
  xargs: {
    flags: "0rtpxo",
    valued: "IinLlPsdEea",
    long: "--null --no-run-if-empty --verbose --interactive --exit",
    longValued: "--max-args --max-procs --max-lines --delimiter --replace --arg-file --max-chars",
    why: "it starts a program with arguments that come from its input",
    appends: true,
  },
  setsid: { flags: "cfw", long: "--ctty --fork --wait", why: "what it starts can outlive the call" },
  watch: { flags: "bdegtcxw", valued: "n", why: "it starts a program again and again" },
  sudo: { flags: "EnHSkKbis", valued: "ugCpr", why: "it starts a program with other rights" },
  doas: { flags: "n", valued: "u", why: "it starts a program with other rights" },
  chroot: { skip: 1, why: "it starts a program elsewhere" },
  flock: { flags: "sxeunF", valued: "wE", skip: 1, why: elsewhere },
  strace: { flags: "fqvctT", valued: "eosp", why: "it looks into another program" },
  ltrace: { flags: "fct", valued: "eo", why: "it looks into another program" },
  busybox: { why: "it is many programs" },
  toybox: { why: "it is many programs" },
  parallel: { why: elsewhere, appends: true },
  ssh: { flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "BbcDEeFIiJLlmOopQRSWw", skip: Number.POSITIVE_INFINITY, why: elsewhere },
};

export const wrappers: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  [
    "timeout",
    wrapper({
      flags: "v",
      valued: "ks",
      long: "--preserve-status --foreground --verbose",
      longValued: "--kill-after --signal",
      skip: 1,
    }),
  ],
  ["nice", wrapper({ valued: "n", longValued: "--adjustment", digits: true })],
  ["ionice", wrapper({ flags: "t", valued: "cn", longValued: "--class --classdata" })],
  ["nohup", wrapper({})],
  ["stdbuf", wrapper({ valued: "ioe", longValued: "--input --output --error" })],
  ["time", wrapper({ flags: "pvq", valued: "f" })],
  ["env", readEnv],
  ["command", readCommand],
  ...Object.entries(asking).map(([name, table]): [string, ReadProgram] => [name, wrapper(table)]),
]);
