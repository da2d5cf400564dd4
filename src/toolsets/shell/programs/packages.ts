import { type OptionTable, optionTable, readOptions } from "./options.ts";
import { dangerousOptions, type Hatch, hatch, type ReadProgram } from "./program.ts";

interface PackageTool {
  /** Subcommands that a rule for the program allows; others must be spelt out by the rule. */
  readonly harmless: string;
  /** Options with which that stays so; the dangerous ones choose what runs, and no rule can spell them out well enough. */
  readonly options: OptionTable;
  /** Actions that make a harmless subcommand another. */
  readonly actions?: string;
  /** Protected names that subcommands write which are not harmless. */
  readonly opens?: readonly string[];
}

/** npm and its like: some subcommands look or run what the project says, others install, publish or configure. */
function packageTool({ harmless, options, actions = "", opens = [] }: PackageTool): ReadProgram {
  return ({ words }) => {
    const { operands, unknown, danger } = readOptions(words, options);
    const hatches: Hatch[] = [];
    if (danger !== undefined) hatches.push(hatch(`\`${danger}\` chooses what runs`));
    if (unknown !== undefined && unknown !== danger) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`, unknown));
    const [first, ...others] = operands.map((index) => words[index]?.value ?? "");
    // Not the second one alone: `--json true` takes its value from the next word.
    const action = others.find((other) => actions.split(" ").includes(other));
    if (first !== undefined && !harmless.split(" ").includes(first)) {
      hatches.push(hatch(`\`${first}\` changes things or runs programs of others`, first));
    }
    if (action !== undefined) hatches.push(hatch(`\`${action}\` changes things`, action));
    return { hatches, effect: "unknown", ...(hatches.length > 0 ? { opens } : {}) };
  };
}

const npmRows = `q|quiet? d json? long? all? workspaces? if-present? omit= include= production? prod? loglevel= ignore-scripts?
  no-audit? no-fund? parseable? include-workspace-root? version? help? audit-level= depth=`;

const cargoRows = `v|verbose q|quiet r|release all workspace all-targets all-features no-default-features lib bins bin? tests test?
  examples example? benches bench? doc no-run no-fail-fast locked offline frozen keep-going message-format= p|package? exclude=
  F|features= j|jobs= profile= depth= no-deps format-version= color= e|edges= i|invert? d|duplicates check h|help version list !config=
  !manifest-path= !target-dir= !C= !Z=`;

const goRows = `v? race? short? count= run= bench= benchmem? timeout= cover? json? list= m? f= x? n? a? e? deps? test? tags= parallel=
  failfast? cpu= mod= trimpath? vet= shuffle= all? src? !exec= !toolexec= !vettool= !o= !overlay= !modfile= !C= !w? !ldflags= !gcflags=
  !asmflags= !gccgoflags= !compiler= !pkgdir=`;

export const packageOptions = {
  npm: optionTable(
    `${npmRows} s|silent w|workspace= !c|call= !g|global !C|prefix= !script-shell= !node-options= !userconfig= !globalconfig= !shell=
    !editor= !viewer= !registry= !git=`,
  ),
  yarn: optionTable(`${npmRows} s|silent r|recursive frozen-lockfile workspace= w= F|filter=`),
  cargo: optionTable(cargoRows),
  go: optionTable(goRows, { style: "words" }),
  pip: optionTable("v|verbose q|quiet h|help V|version outdated user local format="),
  docker: optionTable(
    `a|all q|quiet f t|timestamps s|size n= no-trunc format= filter= tail= since= until= help version no-stream`,
  ),
  /** What they fetch and run follows. */
  npx: optionTable("y|yes no-install no version", { stops: true }),
  uv: optionTable("q|quiet v|verbose version help"),
  pipx: optionTable("help version"),
  make: optionTable(
    `b m B|always-make d debug? h|help i|ignore-errors j|jobs? k|keep-going l|load-average|max-load? L|check-symlink-times
    n|just-print|dry-run|recon O|output-sync? p|print-data-base q|question r|no-builtin-rules R|no-builtin-variables s|silent|quiet
    no-silent S|no-keep-going|stop t|touch trace v|version w|print-directory no-print-directory W|what-if|new-file|assume-new=
    warn-undefined-variables !C|directory= !e|environment-overrides !E|eval= !f|file|makefile= !I|include-dir=
    !o|old-file|assume-old=`,
  ),
} as const;

const npm = packageTool({
  harmless:
    "ls list ll la outdated view info show v explain why test t tst run run-script start stop restart root prefix ping audit",
  options: packageOptions.npm,
  actions: "fix",
  opens: ["package.json"],
});

const yarn = packageTool({
  harmless: "list ls why info test run outdated audit licenses start build lint help",
  opens: ["package.json"],
  options: packageOptions.yarn,
});

const cargo = packageTool({
  harmless: "build b check c test t clippy tree metadata doc d bench version help search",
  options: packageOptions.cargo,
});

const go = packageTool({ harmless: "version env list doc vet test help", options: packageOptions.go });

const pip = packageTool({ harmless: "list show freeze check help", options: packageOptions.pip });

const docker = packageTool({
  harmless: "ps images logs inspect version info top stats port diff history",
  options: packageOptions.docker,
});

/** Fetches a package and runs it: the rule must spell out which. */
const runner: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, packageOptions.npx);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  const name = words[operands[0] ?? -1]?.value;
  if (name !== undefined) hatches.push(hatch(`it fetches and runs \`${name}\``, name));
  return { hatches, effect: "unknown" };
};

/** Runs what a makefile says; the command line can say something else. */
const make: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, packageOptions.make);
  const sets = operands.map((index) => words[index]).find((word) => word?.value.includes("="));
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` can make it run something else`));
  if (sets !== undefined) hatches.push(hatch(`\`${sets.value}\` sets a variable of the makefile`));
  return { hatches, effect: "unknown" };
};

/** Options that start programs of tools that do what the rule says otherwise. */
export const runningOptions = {
  svn: optionTable("!diff-cmd= !diff3-cmd= !merge-cmd? !editor-cmd= !config-dir= !config-option="),
  hg: optionTable("!config= !config-file= !e|ssh= !remotecmd="),
} as const;

/** `cmake -E`, `-P SCRIPT` and `-C SCRIPT`, whatever follows in the same word. */
const cmake: ReadProgram = ({ words }) => {
  const danger = words.slice(1).find(({ value }) => /^-[CEP]/.test(value));
  return { hatches: danger === undefined ? [] : [hatch(`\`${danger.value}\` runs programs or a script`)], effect: "unknown" };
};

/**
 * Options that name programs or plug-ins, files of further options (`@`), and what is handed on to the linker, the assembler or the
 * preprocessor in words of its own.
 */
const compilerDangers =
  /^(?:--?(?:wrapper|specs|prefix|ld-path|for-linker|for-assembler)|-B|@|-X(?:linker|clang|assembler|preprocessor)$)|plugin|,@|^-fuse-ld=.*\//;

const compiler: ReadProgram = ({ words }) => {
  const danger = words.slice(1).find(({ value }) => compilerDangers.test(value));
  return { hatches: danger === undefined ? [] : [hatch(`\`${danger.value}\` can run programs`)], effect: "unknown" };
};

export const packageTools: ReadonlyMap<string, ReadProgram> = new Map([
  ["npm", npm],
  ["yarn", yarn],
  ["pnpm", yarn],
  ["cargo", cargo],
  ["go", go],
  ["pip", pip],
  ["docker", docker],
  ["podman", docker],
  ["npx", runner],
  ["bunx", runner],
  ["pnpx", runner],
  ["uvx", runner],
  ["pipx", packageTool({ harmless: "list help", options: packageOptions.pipx })],
  ["uv", packageTool({ harmless: "version help tree", options: packageOptions.uv })],
  ["make", make],
  ["cmake", cmake],
  ...Object.entries(runningOptions).map(([name, table]) => [name, dangerousOptions(table)] as const),
  ...["gcc", "g++", "cc", "c++", "clang", "clang++"].map((name) => [name, compiler] as const),
]);
