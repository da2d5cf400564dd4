/**
 * The first key of a git configuration that is not known to be harmless where git only looks: filters, drivers, helpers,
 * included files, or what cannot be read line by line. Undefined where there is none. Keys that the runner overrides
 * (`core.fsmonitor`, `core.hooksPath`) count as harmless.
 */
export function findGitHelper(text: string): string | undefined {
  let section = "";
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    let rest = line.trim();
    // A backslash takes the next line with it, whatever that looks like.
    if (rest.endsWith("\\")) return "a value in several lines";
    for (let header = sectionHeader.exec(rest); header !== null; header = sectionHeader.exec(rest)) {
      section = (header[1] ?? "").toLowerCase();
      rest = rest.slice(header[0].length).trimStart();
      if (!isKnown(section)) return section;
    }
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue;
    const key = /^[A-Za-z][A-Za-z0-9-]*(?=\s*(?:=|$|[#;]))/.exec(rest)?.[0].toLowerCase();
    if (key === undefined) return "a line that is none of a configuration";
    if (!isHarmless(section, key)) return `${section}.${key}`;
  }
  return undefined;
}

/** `[core]`, `[remote "origin"]`, and the old `[remote.origin]`, which no key is looked up for. */
const sectionHeader = /^\[\s*([A-Za-z0-9-]+)\s*(?:"(?:[^"\\]|\\.)*"\s*)?\]/;

/** Nothing in them makes git run a program. */
const harmlessSections = new Set(
  `user author committer branch color column push pull advice init rerere index blame status fetch pack http lfs gui gitflow
  maintenance rebase feature receive transfer vscode hub gh`.split(/\s+/),
);

/** Of other sections these keys alone. */
const harmlessKeys: Readonly<Record<string, ReadonlySet<string>>> = {
  core: keys(`repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode autocrlf eol safecrlf symlinks
    longpaths quotepath hookspath fsmonitor untrackedcache commentchar abbrev excludesfile protecthfs protectntfs compression
    preloadindex sparsecheckout sparsecheckoutcone whitespace commitgraph multipackindex checkstat trustctime sharedrepository
    splitindex ignorestat attributesfile editor pager worktree`),
  remote: keys("url pushurl fetch push prune prunetags tagopt mirror skipdefaultupdate skipfetchall gh-resolved pushdefault"),
  submodule: keys("url active recurse fetchjobs branch"),
  diff: keys(
    "algorithm renames renamelimit colormoved colormovedws context mnemonicprefix noprefix wserrorhighlight indentheuristic statgraphwidth",
  ),
  merge: keys("conflictstyle ff log renames renamelimit stat autostash branchdesc"),
  log: keys("date decorate follow abbrevcommit graphcolors mailmap showroot"),
  commit: keys("template verbose status cleanup gpgsign"),
  tag: keys("sort gpgsign forcesignannotated"),
  gc: keys("auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire"),
  extensions: keys("objectformat refstorage noop"),
};

function keys(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function isKnown(section: string): boolean {
  return harmlessSections.has(section) || Object.hasOwn(harmlessKeys, section);
}

function isHarmless(section: string, key: string): boolean {
  return harmlessSections.has(section) || (Object.hasOwn(harmlessKeys, section) && harmlessKeys[section]?.has(key) === true);
}
