import { getOwn } from "../../../util/get-own.ts";
import { nameSet } from "../../../util/text/name-set.ts";
import type { GitSetting } from "./git-configuration.ts";

/** Nothing in them makes git run a program, or read another file as configuration. */
const harmlessSections = nameSet(
  `user author committer branch color column push pull advice init index blame fetch pack http gui gitflow
  maintenance rebase feature receive transfer vscode hub gh`,
);

/** Harmless keys of other sections. */
const harmlessKeys: Readonly<Record<string, ReadonlySet<string>>> = {
  core: nameSet(`repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode autocrlf eol safecrlf symlinks
    longpaths quotepath untrackedcache commentchar abbrev excludesfile protecthfs protectntfs compression
    preloadindex sparsecheckout sparsecheckoutcone whitespace commitgraph multipackindex checkstat trustctime sharedrepository
    splitindex ignorestat attributesfile worktree`),
  remote: nameSet("url pushurl fetch push prune prunetags tagopt mirror skipdefaultupdate skipfetchall gh-resolved pushdefault"),
  submodule: nameSet("url active recurse fetchjobs branch"),
  diff: nameSet(
    "algorithm renames renamelimit colormoved colormovedws context mnemonicprefix noprefix wserrorhighlight indentheuristic statgraphwidth",
  ),
  merge: nameSet("conflictstyle ff log renames renamelimit stat autostash branchdesc"),
  log: nameSet("date decorate follow abbrevcommit graphcolors mailmap showroot"),
  commit: nameSet("template verbose status cleanup"),
  tag: nameSet("sort"),
  gc: nameSet("auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire"),
  status: nameSet("short branch color column aheadbehind relativepaths renames renamelimit showuntrackedfiles showstash"),
  lfs: nameSet("repositoryformatversion access locksverify url pushurl fetchinclude fetchexclude"),
  extensions: nameSet("objectformat refstorage worktreeconfig noop"),
};

/** Returns whether a setting makes git start nothing. An address is none: `ext::` starts what it names. */
export function startsNothing({ section, key, value }: GitSetting): boolean {
  if (key === "gpgsign" || /^[\w-]+::/.test(value ?? "")) return false;
  return harmlessSections.has(section) || getOwn(harmlessKeys, section)?.has(key) === true;
}
