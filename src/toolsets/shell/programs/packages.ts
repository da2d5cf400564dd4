import { type DangerTable, findDanger, type OptionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

interface PackageTool {
  /** Subcommands that a rule for the program allows; others must be spelt out by the rule. */
  readonly harmless: string;
  /** Options with which that stays so. */
  readonly options: OptionTable;
  /** Options that choose what runs: no rule can spell them out well enough. */
  readonly never?: DangerTable;
  /** Actions that make a harmless subcommand another. */
  readonly actions?: string;
  /** Protected names that subcommands write which are not harmless. */
  readonly opens?: readonly string[];
}

/** npm and its like: some subcommands look or run what the project says, others install, publish or configure. */
function packageTool({ harmless, options, never = {}, actions = "", opens = [] }: PackageTool): ReadProgram {
  return ({ words }) => {
    const { operands, unknown } = readOptions(words, options);
    const danger = findDanger(words, never);
    const hatches: Hatch[] = [];
    if (danger !== undefined) hatches.push(hatch(`\`${danger}\` chooses what runs`));
    if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`, unknown));
    const [first, second] = operands.map((index) => words[index]?.value ?? "");
    if (first !== undefined && !harmless.split(" ").includes(first)) {
      hatches.push(hatch(`\`${first}\` changes things or runs programs of others`, first));
    }
    if (second !== undefined && actions.split(" ").includes(second)) hatches.push(hatch(`\`${second}\` changes things`, second));
    return { hatches, effect: "unknown", ...(hatches.length > 0 ? { opens } : {}) };
  };
}

const npmOptions: OptionTable = {
  flags: "sqd",
  valued: "w",
  long: "--silent --quiet --json --long --all --depth --workspaces --workspace --if-present --omit --include --production --prod --loglevel --ignore-scripts --no-audit --no-fund --parseable --include-workspace-root --version --help --audit-level",
  longValued: "--workspace --depth --omit --include --loglevel --audit-level",
};

const npm = packageTool({
  harmless:
    "ls list ll la outdated view info show v explain why test t tst run run-script start stop restart root prefix ping audit",
  options: npmOptions,
  never: {
    letters: "cgC",
    long: "--script-shell --node-options --prefix --userconfig --globalconfig --shell --editor --viewer --call --global --registry --git",
  },
  actions: "fix",
  opens: ["package.json"],
});

const yarn = packageTool({
  harmless: "list ls why info test run outdated audit licenses start build lint help version",
  opens: ["package.json"],
  options: { ...npmOptions, flags: "sr", valued: "wF", long: `${npmOptions.long} --recursive --frozen-lockfile` },
});

const cargoOptions: OptionTable = {
  flags: "vqrh",
  valued: "pjF",
  long: "--release --all --workspace --all-targets --all-features --no-default-features --lib --bins --bin --tests --test --examples --example --benches --bench --doc --no-run --no-fail-fast --locked --offline --frozen --verbose --quiet --keep-going --message-format --package --exclude --features --jobs --profile --depth --no-deps --format-version --color --edges --invert --duplicates --check --help --version --list",
  longValued:
    "--package --exclude --features --jobs --profile --depth --bin --test --example --bench --message-format --format-version --color",
};

const cargo = packageTool({
  harmless: "build b check c test t clippy tree metadata doc d bench version help search",
  options: cargoOptions,
  never: { letters: "CZ", long: "--config --manifest-path --target-dir" },
});

const goOptions: OptionTable = {
  long: "-v -race -short -count -run -bench -benchmem -timeout -cover -json -list -m -f -x -n -a -e -deps -test -tags -parallel -failfast -cpu -mod -trimpath -vet -shuffle -all -src",
  longValued: "-run -bench -timeout -tags -count -parallel -f -cpu -list",
};

const go = packageTool({
  harmless: "version env list doc vet test help",
  options: goOptions,
  never: {
    single: "-exec -toolexec -vettool -o -overlay -modfile -C -w -ldflags -gcflags -asmflags -gccgoflags -compiler -pkgdir",
  },
});

const pip = packageTool({
  harmless: "list show freeze check help",
  options: {
    flags: "vqhV",
    long: "--version --outdated --format --verbose --quiet --user --local --help",
    longValued: "--format",
  },
});

const docker = packageTool({
  harmless: "ps images logs inspect version info top stats port diff history",
  options: {
    flags: "aqfts",
    valued: "n",
    long: "--all --quiet --no-trunc --format --filter --tail --timestamps --since --until --help --version --size --no-stream",
    longValued: "--format --filter --tail --since --until",
  },
});

/** Fetches a package and runs it: the rule must spell out which. */
const runner: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, { flags: "y", long: "--yes --no-install --no --version", stops: true });
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  const name = words[operands[0] ?? -1]?.value;
  if (name !== undefined) hatches.push(hatch(`it fetches and runs \`${name}\``, name));
  return { hatches, effect: "unknown" };
};

/** Runs what a makefile says; the command line can say something else. */
const make: ReadProgram = ({ words }) => {
  const danger = findDanger(words, {
    letters: "fCIEo",
    long: "--file --makefile --directory --include-dir --eval --environment-overrides",
  });
  const sets = words.slice(1).find(({ value }) => value.includes("="));
  const hatches: Hatch[] = [];
  if (danger !== undefined) hatches.push(hatch(`\`${danger}\` makes it run something else`));
  if (sets !== undefined && !sets.value.startsWith("-")) hatches.push(hatch(`\`${sets.value}\` sets a variable of the makefile`));
  return { hatches, effect: "unknown" };
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
  ["pipx", packageTool({ harmless: "list help", options: {} })],
  ["uv", packageTool({ harmless: "version help tree", options: { flags: "qv", long: "--version --help" } })],
  ["make", make],
]);
