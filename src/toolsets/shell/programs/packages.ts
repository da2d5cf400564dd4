import { findOption, optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type Program, type Programs, type ProgramTraits, program, runs, unlike } from "./program.ts";

interface PackageTool extends Pick<ProgramTraits, "style"> {
  /** Subcommands that a rule for the program allows. Others must be spelt out by the rule. */
  readonly harmless: string;
  /** Actions that make a harmless subcommand another. */
  readonly actions?: string;
  /** Subcommands that start what stands behind them. */
  readonly starts?: string;
  /** Protected names that subcommands write which are not harmless. */
  readonly opens?: readonly string[];
  /** The subcommand that it takes without one. */
  readonly byDefault?: string;
}

/**
 * npm and its like: some subcommands look or run what the project says, others install, publish or configure. Of the options, those that
 * are marked choose what runs, and no rule can spell them out well enough.
 */
function packageTool(
  rows: string,
  { harmless, actions = "", starts = "", opens = [], byDefault, ...traits }: PackageTool,
): Program {
  const options = optionTable(rows, traits);
  const isHarmless = (subcommand: string) => harmless.split(" ").includes(subcommand);
  const read: Program["read"] = ({ words }) => {
    const found = readOptions(words, options);
    const { operands, unknown, danger } = found;
    const hatches: Hatch[] = [];
    if (danger !== undefined) hatches.push(runs(`\`${danger}\` chooses what runs`));
    if (unknown !== undefined && unknown !== danger) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`, unknown));
    const ends = findOption(found, "--version", "--help") !== undefined;
    const [first = ends ? undefined : byDefault, ...others] = operands.map((index) => words[index]?.value ?? "");
    if (first !== undefined && !isHarmless(first)) {
      const isStart = starts.split(" ").includes(first);
      hatches.push((isStart ? runs : hatch)(`\`${first}\` changes things or runs programs of others`, first));
    }
    // Not the second one alone: `--json true` takes its value from the next word.
    const action = others.find((other) => actions.split(" ").includes(other));
    if (action !== undefined) hatches.push(hatch(`\`${action}\` changes things`, action));
    return { hatches, effect: "unknown", ...(hatches.length > 0 ? { opens } : {}) };
  };
  return { options, read };
}

/** Fetches a package and runs it: the rule must spell out which. Options behind its name are the package's. */
const runner = program("y|yes no-install no version", {
  stops: true,
  runs: /^-/,
  look: ({ words, operands: [first = words.length] }) => {
    const name = words[first]?.value;
    if (name === undefined) return { hatches: [], effect: "unknown" };
    return { hatches: [hatch(`it fetches and runs \`${name}\``, name)], effect: "unknown", also: words.slice(first) };
  },
});

/** Runs what a makefile says. The command line can say something else. */
const make = program(
  `b m B|always-make d debug? h|help i|ignore-errors j|jobs? k|keep-going l|load-average|max-load? L|check-symlink-times
    n|just-print|dry-run|recon O|output-sync? p|print-data-base q|question r|no-builtin-rules R|no-builtin-variables s|silent|quiet
    no-silent S|no-keep-going|stop t|touch trace v|version w|print-directory no-print-directory W|what-if|new-file|assume-new=
    warn-undefined-variables !C|directory= !e|environment-overrides !E|eval= !f|file|makefile= !I|include-dir=
    !o|old-file|assume-old=`,
  {
    otherwise: "can make it run something else",
    runs: /^-[^-C]*[eEfIoV]|^--(?:e|f|mak|i|o|a)/,
    look: ({ values }) => {
      const set = values.find((value) => value.includes("="));
      return { hatches: set === undefined ? [] : [runs(`\`${set}\` sets a variable of the makefile`)], effect: "unknown" };
    },
  },
);

/** Does what the rule says, but for options that start other programs. */
function runningOptions(options: string): Program {
  return program(options, { isOpen: true, runs: /^-/, look: () => ({ effect: "unknown" }) });
}

/**
 * Options that name programs or plug-ins, files of further options (`@`), and what is handed on to the linker, the assembler or the
 * preprocessor in words of its own.
 */
const compilerDangers =
  /^(?:-cc1|--?(?:wrapper|specs|prefix|ld-path|for-linker|for-assembler|config|gcc-toolchain|gcc-install-dir|gcc-triple|ccc-|[\w-]+-(?:tool|path)=)|-B|@|-X(?:linker|clang|assembler|preprocessor)$)|plugin|,@|^-fuse-ld=.*\//;

const compiler = unlike(compilerDangers, "can run programs");

const npmRows = `q|quiet? d json? long? all? workspaces? if-present? omit= include= production? prod? loglevel= ignore-scripts?
  no-audit? no-fund? parseable? include-workspace-root? version|v? help|h? audit-level= depth=`;

/** Only what has its value in the same word: yarn takes the word behind an option that it does not know for the subcommand. */
const yarnRows = `${npmRows.replaceAll("=", "?")} s|silent r|recursive frozen-lockfile`;
const ofYarn = {
  harmless: "list ls why info test run outdated audit licenses start build lint help",
  starts: "exec dlx node",
  opens: ["package.json"],
};

const docker = packageTool(
  `a|all q|quiet f t|timestamps s|size n= no-trunc format= filter= tail= since= until= help version no-stream`,
  {
    harmless: "ps images logs inspect version info top stats port diff history",
    starts: "run exec create container compose",
  },
);

export const packageTools: Programs = {
  npm: packageTool(
    `${npmRows} s|silent w|workspace= !c|call= !g|global !C|prefix= !script-shell= !node-options= !userconfig= !globalconfig= !shell=
    !editor= !viewer= !registry= !git=`,
    {
      harmless:
        "ls list ll la outdated view info show v explain why test t tst run run-script start stop restart root prefix ping audit",
      actions: "fix",
      starts: "exec x explore",
      opens: ["package.json"],
    },
  ),
  yarn: packageTool(yarnRows, { ...ofYarn, byDefault: "install" }),
  pnpm: packageTool(`${yarnRows} w|workspace-root F|filter=`, ofYarn),
  cargo: packageTool(
    `v|verbose q|quiet r|release all workspace all-targets all-features no-default-features lib bins bin? tests test?
  examples example? benches bench? doc no-run no-fail-fast locked offline frozen keep-going message-format= p|package? exclude=
  F|features= j|jobs= profile= depth= no-deps format-version= color= e|edges= i|invert? d|duplicates check h|help version list !config=
  !manifest-path= !target-dir= !C= !Z=`,
    { harmless: "build b check c test t clippy tree metadata doc d bench version help search" },
  ),
  go: packageTool(
    `v? race? short? count= run= bench= benchmem? timeout= cover? json? list= m? f= x? n? a? e? deps? test? tags= parallel=
  failfast? cpu= mod= trimpath? vet= shuffle= all? src? !exec= !toolexec= !vettool= !o= !overlay= !modfile= !C= !w? !ldflags= !gcflags=
  !asmflags= !gccgoflags= !compiler= !pkgdir=`,
    { style: "words", harmless: "version env list doc vet test help" },
  ),
  pip: packageTool("v|verbose q|quiet h|help V|version outdated user local format=", { harmless: "list show freeze check help" }),
  docker,
  podman: docker,
  npx: runner,
  bunx: runner,
  pnpx: runner,
  uvx: runner,
  pipx: packageTool("help version", { harmless: "list help", starts: "run runpip" }),
  uv: packageTool("q|quiet v|verbose version help", { harmless: "help tree", starts: "run tool" }),
  make,
  // Also with what follows in the same word.
  cmake: unlike(/^-[CEP]/, "runs programs or a script"),
  svn: runningOptions("!diff-cmd= !diff3-cmd= !merge-cmd? !editor-cmd= !config-dir= !config-option="),
  hg: runningOptions("!config= !config-file= !e|ssh= !remotecmd="),
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
};
