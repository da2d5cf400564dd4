import { projectSettings } from "../../../host/protected-names.ts";
import type { OptionTable } from "./options.ts";

/** What may stand before the subcommand. `-C` moves, and is looked at as a path. */
export const globalOptions: OptionTable = {
  flags: "P",
  valued: "C",
  long: "--no-pager --version --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --no-advice",
};

const walking = [
  "--oneline --graph --all --branches --tags --remotes --decorate --no-decorate --stat --numstat --shortstat --dirstat",
  "--name-only --name-status --raw --summary --compact-summary --patch --no-patch --patch-with-stat --patch-with-raw --reverse",
  "--merges --no-merges --first-parent --follow --pretty --format --abbrev-commit --no-abbrev-commit --abbrev --date",
  "--relative-date --no-color --color --word-diff --color-words --word-diff-regex --unified --no-renames --find-renames --find-copies",
  "--find-copies-harder --diff-filter --cached --staged --merge-base --exit-code --quiet --check --full-index --binary --minimal",
  "--patience --histogram --diff-algorithm --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines",
  "--ignore-cr-at-eol --function-context --inter-hunk-context --no-prefix --src-prefix --dst-prefix --no-ext-diff --no-textconv",
  "--no-indent-heuristic --indent-heuristic --pickaxe-regex --pickaxe-all --full-diff --full-history --simplify-merges --topo-order",
  "--date-order --author-date-order --left-right --cherry-pick --cherry-mark --cherry --boundary --walk-reflogs --not --parents",
  "--children --objects --count --max-count --skip --since --after --until --before --author --committer --grep --all-match",
  "--invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --no-walk --do-walk --source --use-mailmap",
  "--no-mailmap --notes --no-notes --relative --no-relative --text --color-moved --no-color-moved --ita-invisible-in-index --submodule --ignore-submodules --line-prefix --ws-error-highlight --root --cc --combined-all-paths --diff-merges --no-diff-merges --encoding --expand-tabs --no-expand-tabs --min-parents --max-parents --no-min-parents --no-max-parents --ancestry-path --show-pulls --stdin --clear-decorations --decorate-refs --decorate-refs-exclude --exclude --glob --ignore-matching-lines --anchored --base --ours --theirs --ignore-missing --no-commit-id --always -z",
].join(" ");

const walkingValued =
  "--max-count --skip --since --after --until --before --author --committer --grep --format --date --diff-algorithm --unified --inter-hunk-context --src-prefix --dst-prefix --decorate-refs --decorate-refs-exclude --exclude --glob --ignore-matching-lines --anchored";

const history: OptionTable = {
  flags: "psuwbRagiEFPvztmcq1234567890rW",
  valued: "nSGLl",
  attached: "MCDBU",
  long: walking,
  longValued: walkingValued,
  digits: true,
};

function simple(flags: string, long: string, more: Partial<OptionTable> = {}): OptionTable {
  return { flags, long, ...more };
}

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
  shortlog: { ...history, flags: "nsecw", valued: "", long: `${walking} --numbered --email --group --committer` },
  status: simple(
    "sbvuz",
    "--short --branch --porcelain --long --verbose --untracked-files --ignored --ignore-submodules --column --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames --show-stash",
    { attached: "u" },
  ),
  blame: simple(
    "bltfsewpcM",
    "--porcelain --line-porcelain --show-name --show-number --show-email --root --abbrev --date --color-lines --color-by-age --since --incremental --first-parent --show-stats --ignore-rev",
    { valued: "L", longValued: "--since --date --ignore-rev", attached: "MC" },
  ),
  annotate: simple("bltfsewpcM", "--porcelain --date", { valued: "L", attached: "MC" }),
  "rev-parse": simple(
    "qv",
    "--abbrev-ref --short --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --all --branches --tags --remotes --show-superproject-working-tree --show-object-format --revs-only --no-revs --flags --no-flags",
  ),
  "ls-files": simple(
    "cdmosuktvzifr",
    "--cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --exclude-standard --error-unmatch --full-name --abbrev --eol --deduplicate --exclude --format --recurse-submodules --resolve-undo -t -v",
    { valued: "x" },
  ),
  "ls-tree": simple("rdtlz", "--name-only --name-status --long --full-name --full-tree --abbrev --object-only --format"),
  describe: simple(
    "",
    "--tags --all --always --abbrev --dirty --broken --long --match --exclude --candidates --exact-match --first-parent --contains",
  ),
  branch: simple(
    "alrvi",
    "--all --list --remotes --verbose --show-current --contains --no-contains --merged --no-merged --sort --points-at --format --color --no-color --column --no-column --abbrev --no-abbrev --ignore-case",
  ),
  tag: simple(
    "lin",
    "--list --contains --no-contains --merged --no-merged --sort --points-at --format --column --no-column --ignore-case",
    { attached: "n" },
  ),
  remote: simple("v", "--verbose"),
  "cat-file": simple("tpse", "--batch-check --use-mailmap"),
  grep: simple(
    "ivwnlLcqhHEFGPIaoprWz",
    "--ignore-case --word-regexp --line-number --files-with-matches --files-without-match --name-only --count --quiet --extended-regexp --basic-regexp --fixed-strings --perl-regexp --invert-match --text --cached --untracked --heading --break --show-function --function-context --context --after-context --before-context --and --or --not --all-match --max-depth --max-count --color --no-color --only-matching --column --full-name --null --recursive --no-recursive --recurse-submodules --exclude-standard",
    { valued: "eABCm", digits: true },
  ),
  "merge-base": simple("a", "--all --is-ancestor --octopus --independent --fork-point"),
  "name-rev": simple("", "--tags --refs --exclude --all --name-only --no-undefined --always"),
  "for-each-ref": simple(
    "",
    "--count --sort --format --points-at --merged --no-merged --contains --no-contains --ignore-case --exclude",
  ),
  "show-ref": simple("dqs", "--head --heads --tags --branches --dereference --hash --abbrev --verify --exists --quiet"),
  "show-branch": simple("ar", "--all --remotes --current --list --topo-order --date-order --sparse"),
  "symbolic-ref": simple("q", "--short --quiet"),
  "count-objects": simple("vH", "--verbose --human-readable"),
  "check-ignore": simple("qvnz", "--quiet --verbose --non-matching --no-index"),
  "check-attr": simple("az", "--all --cached"),
  "verify-pack": simple("vs", "--verbose --stat-only"),
  stash: simple("pu", "--stat --patch --oneline --name-only --name-status"),
  reflog: { ...history },
  worktree: simple("vz", "--porcelain --verbose"),
  config: simple(
    "l",
    "--list --get --get-all --get-regexp --name-only --show-origin --show-scope --local --global --system --null",
  ),
  version: simple("", "--build-options"),
};

export const harmlessSubcommands: ReadonlyMap<string, OptionTable> = new Map(Object.entries(subcommands));

/** Subcommands that only look with one of these words behind them, or with none. */
export const harmlessActions: ReadonlyMap<string, readonly string[]> = new Map([
  ["remote", ["get-url"]],
  ["stash", ["list", "show"]],
  ["reflog", ["show", "exists", "HEAD"]],
  ["worktree", ["list"]],
]);

/** Of those that can look alone, the ones that can do more. */
export const changing: ReadonlySet<string> = new Set("branch tag remote stash config worktree symbolic-ref reflog".split(" "));

/** Subcommands that write to the repository and only read the files that they name. */
export const readingSubcommands: ReadonlySet<string> = new Set(["add", "commit", "push", "stage"]);

/** Subcommands that run what they are told to: no rule can spell that out well enough. */
export const runningSubcommands: ReadonlySet<string> = new Set(
  "bisect config daemon difftool filter-branch for-each-repo hook instaweb maintenance mergetool p4 send-email submodule svn var".split(
    " ",
  ),
);

/** Subcommands that put files of the history into the folder: also those with protected names that a project keeps. */
export const checkingOut: ReadonlySet<string> = new Set(
  "checkout switch restore reset merge pull rebase revert cherry-pick stash apply am clone mv rm worktree submodule".split(" "),
);

/** Subcommands that can write the repository's configuration, with the options with which they do; no options: always. */
export const configuring: ReadonlyMap<string, readonly string[]> = new Map([
  ["init", []],
  ["clone", []],
  ["config", []],
  ["remote", []],
  ["submodule", []],
  ["sparse-checkout", []],
  ["branch", ["-u", "--set-upstream-to", "--unset-upstream", "-m", "-M", "--move", "-c", "-C", "--copy", "--edit-description"]],
  ["push", ["-u", "--set-upstream"]],
  ["fetch", ["--set-upstream"]],
  ["pull", ["--set-upstream"]],
  ["checkout", ["-t", "--track"]],
  ["switch", ["-t", "--track"]],
]);

/** Those that make repositories, with hooks in them. */
export const makingRepositories: ReadonlySet<string> = new Set(["init", "clone", "submodule"]);

export const keptNames: readonly string[] = [
  ..."package.json .gitattributes .gitmodules .editorconfig .npmrc .vscode .devcontainer .husky .githooks workflows".split(" "),
  ...".pre-commit-config.yaml lefthook.yml".split(" "),
  projectSettings,
];

/** Options with which any subcommand starts programs or writes where it is told to. */
export const dangerousLong =
  "--output --output-directory --ext-diff --textconv --open-files-in-pager --exec --upload-pack --receive-pack --exec-path --config --config-env --git-dir --work-tree --contents --filters --template --separate-git-dir --no-index --editor --gpg-sign --paginate --recurse-submodules --edit --interactive";

/** The same in one letter, which means something else to every subcommand. */
export const dangerousLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    add: "ei",
    am: "S",
    archive: "o",
    bugreport: "o",
    "cherry-pick": "eS",
    clone: "cu",
    commit: "eS",
    "commit-tree": "S",
    diagnose: "o",
    "format-patch": "o",
    mailsplit: "o",
    merge: "eS",
    notes: "e",
    pull: "eS",
    rebase: "ixS",
    replace: "e",
    revert: "eS",
    tag: "eu",
  }),
);
