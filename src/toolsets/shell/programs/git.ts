import { projectSettings } from "../../../host/protected-names.ts";
import { nameSet } from "../../../util/name-set.ts";
import type { ShellWord } from "../parse/plan.ts";
import { type OptionTable, optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type Program, type ProgramReading, runs } from "./program.ts";
import { leavesFolder } from "./readers.ts";

/** Options before the subcommand. `-C` changes the folder, and is looked at as a path. */
const globalOptions = optionTable(
  `P|no-pager C= v|version no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-replace-objects
  no-advice`,
  { ends: false },
);

/** Options of all subcommands that show differences. */
const differences = `p u|patch s no-patch patch-with-stat patch-with-raw stat? numstat shortstat dirstat? X? name-only name-status raw
  summary compact-summary no-color color? word-diff? color-words? word-diff-regex= U|unified? no-renames M|find-renames?
  C|find-copies? find-copies-harder B|break-rewrites? D l= diff-filter= exit-code quiet check full-index binary minimal patience
  histogram diff-algorithm= w|ignore-all-space b|ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol
  W|function-context inter-hunk-context= no-prefix src-prefix= dst-prefix= line-prefix= no-ext-diff no-textconv no-indent-heuristic
  indent-heuristic pickaxe-regex pickaxe-all S= G= O= R a|text relative? no-relative color-moved? no-color-moved
  ita-invisible-in-index submodule? ignore-submodules? ws-error-highlight= abbrev? no-abbrev I|ignore-matching-lines= anchored= z`;

/** Options of all subcommands that walk through the history. */
const walking = `oneline graph all branches? tags? remotes? decorate? no-decorate reverse merges no-merges first-parent pretty? format?
  abbrev-commit no-abbrev-commit date= relative-date full-diff full-history simplify-merges topo-order date-order author-date-order
  left-right cherry-pick cherry-mark cherry boundary g|walk-reflogs not parents children objects count max-count= skip= since= after=
  until= before= author= grep= all-match invert-grep i|regexp-ignore-case E|extended-regexp F|fixed-strings P|perl-regexp
  no-walk? do-walk source use-mailmap no-mailmap notes? no-notes root cc combined-all-paths diff-merges= no-diff-merges encoding=
  expand-tabs? no-expand-tabs min-parents? max-parents? no-min-parents no-max-parents ancestry-path? show-pulls stdin
  clear-decorations decorate-refs= decorate-refs-exclude= exclude= glob= ignore-missing no-commit-id always`;

const history = optionTable(
  `${differences} ${walking} committer= n= L= m t r c v q follow cached staged merge-base base ours theirs`,
  { digits: true },
);

/** Subcommands that look and change nothing, with the options with which that stays so. */
const subcommands: Readonly<Record<string, OptionTable>> = {
  log: history,
  show: history,
  diff: history,
  whatchanged: history,
  "diff-tree": history,
  "diff-index": history,
  "diff-files": history,
  "rev-list": history,
  reflog: history,
  shortlog: optionTable(`${walking} c|committer n|numbered s|summary e|email w? group=`),
  status: optionTable(
    `s|short b|branch v|verbose u|untracked-files? z|null porcelain? long ignored? ignore-submodules? column? no-column ahead-behind
    no-ahead-behind renames no-renames M|find-renames? show-stash`,
  ),
  blame: optionTable(
    `b l t f|show-name s e|show-email w p|porcelain c n|show-number L= M? C? line-porcelain root abbrev? date= color-lines color-by-age
    since= incremental first-parent show-stats ignore-rev= minimal`,
  ),
  annotate: optionTable("b l t f s e w p|porcelain c L= M? C? date="),
  "rev-parse": optionTable(
    `q|quiet abbrev-ref? short? verify show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree
    is-inside-git-dir is-bare-repository is-shallow-repository symbolic symbolic-full-name all branches? tags? remotes?
    show-superproject-working-tree show-object-format? revs-only no-revs flags no-flags`,
  ),
  "ls-files": optionTable(
    `c|cached d|deleted m|modified o|others s|stage u|unmerged k|killed t v z i|ignored f r directory no-empty-directory
    exclude-standard error-unmatch full-name abbrev? eol deduplicate x|exclude= format= recurse-submodules resolve-undo`,
  ),
  "ls-tree": optionTable("r d t l|long z name-only name-status full-name full-tree abbrev? object-only format="),
  describe: optionTable(
    "tags all always abbrev? dirty? broken? long match= exclude= candidates= exact-match first-parent contains",
  ),
  branch: optionTable(
    `a|all l|list r|remotes v|verbose i|ignore-case show-current contains= no-contains= merged= no-merged= sort= points-at= format=
    color? no-color column? no-column abbrev?`,
  ),
  tag: optionTable(
    "l|list i|ignore-case n? contains= no-contains= merged= no-merged= sort= points-at= format= column? no-column",
  ),
  remote: optionTable("v|verbose"),
  "cat-file": optionTable("t p s e batch-check? use-mailmap"),
  grep: optionTable(
    `i|ignore-case v|invert-match w|word-regexp n|line-number l|files-with-matches|name-only L|files-without-match c|count q|quiet h H
    E|extended-regexp G|basic-regexp F|fixed-strings P|perl-regexp I a|text o|only-matching p|show-function r|recursive
    W|function-context z|null e= A|after-context= B|before-context= C|context= m|max-count= cached untracked heading break and or not
    all-match max-depth= color? no-color column full-name no-recursive exclude-standard`,
    { digits: true },
  ),
  "merge-base": optionTable("a|all is-ancestor octopus independent fork-point"),
  "name-rev": optionTable("tags refs= exclude= all name-only no-undefined always"),
  "for-each-ref": optionTable("count= sort= format= points-at= merged= no-merged= contains= no-contains= ignore-case exclude="),
  "show-ref": optionTable("d|dereference q|quiet s|hash? head heads tags branches abbrev? verify exists"),
  "show-branch": optionTable("a|all r|remotes current list topo-order date-order sparse"),
  "symbolic-ref": optionTable("q|quiet short"),
  "count-objects": optionTable("v|verbose H|human-readable"),
  "check-ignore": optionTable("q|quiet v|verbose n|non-matching z no-index"),
  "check-attr": optionTable("a|all z cached"),
  "verify-pack": optionTable("v|verbose s|stat-only"),
  stash: optionTable("p|patch u stat? oneline name-only name-status"),
  worktree: optionTable("v|verbose z porcelain"),
  config: optionTable("l|list get get-all get-regexp name-only show-origin show-scope local global system z|null"),
  version: optionTable("build-options"),
};

export const harmlessSubcommands: ReadonlyMap<string, OptionTable> = new Map(Object.entries(subcommands));

/** Subcommands that only look with one of these words behind them, or with none. */
const harmlessActions: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["remote", nameSet("get-url")],
  ["stash", nameSet("list show")],
  ["reflog", nameSet("show exists HEAD")],
  ["worktree", nameSet("list")],
]);

/** Options with which `git branch` and `git tag` list, also where a name follows. */
const listing = nameSet("--list -l --contains --no-contains --merged --no-merged --points-at");

/** Subcommands that look at words behind the `--` again: `blame` for a revision, and `stash list` hands its words to `git log`. */
const rereading: ReadonlySet<string> = nameSet("blame annotate stash");

/** Subcommands that can only look, but can also do more. */
export const changing: ReadonlySet<string> = nameSet("branch tag remote stash config worktree symbolic-ref reflog");

/** Subcommands that write to the repository and only read the files that they name. */
const readingSubcommands: ReadonlySet<string> = nameSet("add commit push stage");

/** Subcommands that run what they are told to: no rule can spell that out well enough. */
const runningSubcommands: ReadonlySet<string> = nameSet(
  "bisect config daemon difftool filter-branch for-each-repo hook instaweb maintenance merge-index mergetool p4 send-email submodule svn var",
);

/** Subcommands that put files of the history into the folder: also those with protected names that a project keeps. */
const checkingOut: ReadonlySet<string> = nameSet(
  "checkout switch restore reset merge pull rebase revert cherry-pick stash apply am clone mv rm worktree submodule",
);

/** Subcommands that can write the repository's configuration, with the options with which they do; no options: always. */
const configuring: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...["init", "clone", "config", "remote", "submodule", "sparse-checkout"].map((name) => [name, new Set<string>()] as const),
  ["branch", nameSet("-u --set-upstream-to --unset-upstream -m -M --move -c -C --copy --edit-description")],
  ["push", nameSet("-u --set-upstream")],
  ...["fetch", "pull"].map((name) => [name, nameSet("--set-upstream")] as const),
  ...["checkout", "switch"].map((name) => [name, nameSet("-t --track")] as const),
]);

/** Subcommands that make repositories, with hooks in them. */
const makingRepositories: ReadonlySet<string> = nameSet("init clone submodule");

/** Protected names that a project keeps in its history. */
const keptNames: readonly string[] = [
  ...nameSet("package.json .gitattributes .gitmodules .editorconfig .npmrc .vscode .devcontainer .husky .githooks workflows"),
  ...nameSet(".pre-commit-config.yaml lefthook.yml"),
  projectSettings,
];

/** Options with which any subcommand starts programs or writes where it is told to. */
const dangerous =
  nameSet(`output output-directory ext-diff textconv open-files-in-pager exec upload-pack receive-pack exec-path config config-env
  git-dir work-tree contents filters template separate-git-dir no-index editor gpg-sign paginate recurse-submodules edit interactive`);

/**
 * Options of subcommands that change things: dangerous letters, and letters that can stand with them. A strategy is the end of the
 * name of a program, which can lie in the work tree: `x/y` starts `git-merge-x/y`.
 */
export const changingRows: Readonly<Record<string, string>> = {
  add: "n v f u A N p !i|interactive !e|edit",
  am: "3 c k m q s u p= !S|gpg-sign? !i|interactive",
  archive: "v l 0 1 2 3 4 5 6 7 8 9 format= prefix= !o|output= !exec= !remote=",
  bugreport: "s= !o|output-directory=",
  "cherry-pick": "n x s m= X= !strategy= !e|edit !S|gpg-sign?",
  clone: "l s n q v j= o= b= !c|config= !u|upload-pack=",
  commit: "q v F= m|message= C= s a n p o i z u? author= date= !c= !t|template= !e|edit !S|gpg-sign?",
  "commit-tree": "p= m|message= F= !S|gpg-sign?",
  diagnose: "s= !o|output-directory=",
  "format-patch": "n N k s v= !o|output-directory=",
  mailsplit: "!o=",
  merge: "n q v m|message= F= s= X= !e|edit !S|gpg-sign?",
  notes: "f m|message= F= C= !c= !e|edit",
  pull: "n q v r? X= !s|strategy= !e|edit !S|gpg-sign?",
  rebase: "q v n f m X= C= r? !s|strategy= !i|interactive !x|exec= !S|gpg-sign?",
  replace: "f d l g !e|edit",
  revert: "n s m= X= !strategy= !e|edit !S|gpg-sign?",
  stash: "q a k p S u m|message=",
  tag: "a s d f v m|message= F= l i n? !e|edit !u=",
};

/**
 * A name that a row declares is not declared again. Nothing ends the options: `pull` hands its words to `git fetch`, and `cherry-pick`
 * and others read what follows the `--` once more.
 */
function changingTable(rows: string): OptionTable {
  const declared = new Set(rows.split(/[\s|!=?]+/));
  const others = [...dangerous].filter((name) => !declared.has(name));
  return optionTable(`${rows} ${others.map((name) => `!${name}?`).join(" ")}`, { ends: false });
}

const changingTables = new Map(Object.entries(changingRows).map(([name, rows]) => [name, changingTable(rows)] as const));
const anyTable = changingTable("");

/** The options of a subcommand that a rule spells out. Those that are not named are free. */
function optionsOfChange(subcommand: string): OptionTable {
  return changingTables.get(subcommand) ?? anyTable;
}

/** Looking at a repository is free, as far as the options are known. Everything else must be spelt out by a rule. */
export const git: Program = { options: globalOptions, read: ({ words }) => readGit(words) };

function readGit(words: readonly ShellWord[]): ProgramReading {
  const option = subcommandIndex(words, false);
  const at = subcommandIndex(words, true);
  const why = `\`${option}\` before a subcommand can make git run programs`;
  if (typeof at === "string") return { hatches: [runs(why)], effect: "write" };
  const reading = readSubcommand(words, at);
  const also = at > 1 ? [...words.slice(0, 1), ...words.slice(at)] : [];
  if (typeof option === "number") return { ...reading, also };
  return { hatches: [hatch(why), ...reading.hatches], effect: "write", also };
}

function readSubcommand(words: readonly ShellWord[], at: number): ProgramReading {
  const subcommand = words[at]?.value;
  if (subcommand === undefined) return { hatches: [], effect: "read" };
  const table = harmlessSubcommands.get(subcommand);
  if (table !== undefined) return readHarmless(words, at, table);
  const why = `\`git ${subcommand}\` changes things or runs programs`;
  const hatches = [
    runningSubcommands.has(subcommand) ? runs(why) : hatch(why, subcommand),
    ...configures(words.slice(at)),
    ...dangers(words.slice(at)),
  ];
  const effect = readingSubcommands.has(subcommand) ? "read" : "write";
  return { hatches, effect, texts: messages(words, at), ...opensFor(subcommand) };
}

/** Settings that start nothing. */
const plainSetting = /^(?:user\.(?:name|email)|color\.\w+)(?:=|$)/i;

/** Index of the subcommand, or the option before it that is not known to be harmless. `skipsSettings`: plain ones count as that. */
function subcommandIndex(words: readonly ShellWord[], skipsSettings: boolean): number | string {
  for (let index = 1; index < words.length; index++) {
    const { value } = words[index] as ShellWord;
    if (!value.startsWith("-")) return index;
    if (value === "-C" && leavesFolder(words[index + 1]?.value ?? "/")) return "-C";
    const isSetting = skipsSettings && value === "-c" && plainSetting.test(words[index + 1]?.value ?? "");
    if (value === "-C" || isSetting) index++;
    else if (!readsAlone(words[index] as ShellWord)) return value;
  }
  return words.length;
}

function readsAlone(word: ShellWord): boolean {
  return readOptions([word, word], globalOptions).unknown === undefined && !word.value.startsWith("-C");
}

function readHarmless(words: readonly ShellWord[], at: number, table: OptionTable): ProgramReading {
  const subcommand = words[at]?.value ?? "";
  const { unknown, operands, options } = readOptions(words, table, at + 1);
  const names = options.map(({ name }) => name);
  const named = operands.map((index) => words[index]?.value ?? "");
  // Behind an option, what looks like an action is a file that is put away.
  const hatches = changesOf(subcommand, subcommand === "stash" && operands[0] !== at + 1 ? [] : named, names);
  if (unknown !== undefined) {
    const spelt = dangers(words.slice(at)).length > 0 ? undefined : unknown;
    hatches.push(hatch(`\`git ${subcommand} ${unknown}\` is not known to be harmless`, spelt));
  }
  hatches.push(...dangersBehind(words.slice(at)));
  const behind = rereading.has(subcommand) ? operands.find((index) => /^-./.test(words[index]?.value ?? "")) : undefined;
  if (behind !== undefined) hatches.push(hatch(`\`git ${subcommand}\` could take \`${words[behind]?.value}\` for an option`));
  const isPattern = subcommand === "grep" && !names.includes("-e") && operands[0] !== undefined;
  const texts = new Set([...(isPattern ? [operands[0] ?? 0] : []), ...options.map(({ index }) => index)]);
  const changes = hatches.length > 0 && changing.has(subcommand);
  if (changes) hatches.push(...configures(words.slice(at)));
  return { hatches, effect: "read", texts, ...(changes ? opensFor(subcommand) : {}) };
}

/** Reasons why a subcommand that can only look does more here. */
function changesOf(subcommand: string, operands: readonly string[], options: readonly string[]): Hatch[] {
  const hatches: Hatch[] = [];
  const [action] = operands;
  if (subcommand === "diff" && operands.some(leavesFolder)) {
    hatches.push(hatch("`git diff` of files outside the repository reads them"));
  }
  const isHarmless = action === undefined ? subcommand !== "stash" : harmlessActions.get(subcommand)?.has(action) !== false;
  if (!isHarmless) {
    const shown = action === undefined ? subcommand : `${subcommand} ${action}`;
    hatches.push(hatch(`\`git ${shown}\` changes things`, action ?? subcommand));
  }
  if ((subcommand === "branch" || subcommand === "tag") && operands.length > 0 && !options.some((one) => listing.has(one))) {
    hatches.push(hatch(`\`git ${subcommand}\` with a name makes a ${subcommand}`, subcommand));
  }
  if (subcommand === "symbolic-ref" && operands.length > 1) {
    hatches.push(hatch("`git symbolic-ref` with two names moves a reference", subcommand));
  }
  const reads = options.some((one) => one.startsWith("--get") || (one === "-l" && operands.length === 0));
  if (subcommand === "config" && !reads) {
    hatches.push((plainSetting.test(action ?? "") ? hatch : runs)("`git config` without --get or --list can set a value"));
  }
  return hatches;
}

/** git cannot change anything without its own folder; its configuration and its hooks only a person opens. */
function opensFor(subcommand: string): Pick<ProgramReading, "opens" | "opensIfAsked"> {
  const opens = checkingOut.has(subcommand) ? [".git", ...keptNames] : [".git"];
  const hooks = makingRepositories.has(subcommand) ? [".git/hooks"] : [];
  return configuring.has(subcommand) ? { opens, opensIfAsked: [".git/config", ...hooks] } : { opens };
}

/** Asks where the repository's configuration is written. No rule lifts that, because the configuration makes git run programs. */
function configures(words: readonly ShellWord[]): Hatch[] {
  const [subcommand = "", ...args] = words.map(({ value }) => value);
  const options = configuring.get(subcommand);
  if (options === undefined) return [];
  const isMeant = options.size === 0 || args.some((arg) => [...options].some((option) => isOption(arg, option)));
  return isMeant ? [hatch(`\`git ${subcommand}\` writes the repository's configuration`)] : [];
}

/** Abbreviated, with a value, or among other letters. */
function isOption(arg: string, option: string): boolean {
  const name = arg.split("=", 1)[0] ?? arg;
  if (option.startsWith("--")) return name.length > 2 && option.startsWith(name);
  return /^-[A-Za-z]/.test(arg) && arg.includes(option.charAt(1));
}

function dangers(words: readonly ShellWord[]): Hatch[] {
  const { danger } = readOptions(words, optionsOfChange(words[0]?.value ?? ""));
  return danger === undefined ? [] : [runs(`\`${danger}\` makes git run programs or write files`)];
}

function dangersBehind(words: readonly ShellWord[]): Hatch[] {
  const end = words.findIndex(({ value }) => value === "--");
  return end === -1 ? [] : dangers(words.slice(end));
}

/** `-m TEXT` is no path. */
function messages(words: readonly ShellWord[], from: number): ReadonlySet<number> {
  const { options } = readOptions(words, optionsOfChange(words[from]?.value ?? ""), from + 1);
  return new Set(options.filter(({ name }) => name === "-m").map(({ index }) => index));
}
