import { getOwn } from "../../../util/get-own.ts";
import { nameSet } from "../../../util/name-set.ts";

/** One line of a configuration. Names are lower-case, but for the subsection. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  /** Undefined where the key stands alone, which means `true`. */
  readonly value: string | undefined;
}

export interface GitConfig {
  /**
   * The first key that is not known to be harmless where git only looks: filters, drivers, helpers, included files, or what cannot be
   * read line by line. Keys that the runner overrides (`core.fsmonitor`, `core.hooksPath`) count as harmless.
   */
  readonly helper: string | undefined;
  /** All settings before the helper. */
  readonly settings: readonly GitSetting[];
}

export function readGitConfig(text: string): GitConfig {
  const settings: GitSetting[] = [];
  let section = "";
  let subsection: string | undefined;
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    let rest = line.trim();
    // A backslash takes the next line with it, whatever that looks like.
    if (rest.endsWith("\\")) return { helper: "a value in several lines", settings };
    for (let header = sectionHeader.exec(rest); header !== null; header = sectionHeader.exec(rest)) {
      section = (header[1] ?? "").toLowerCase();
      subsection = header[2]?.replace(/\\(.)/g, "$1");
      rest = rest.slice(header[0].length).trimStart();
      if (!isKnown(section)) return { helper: section, settings };
    }
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue;
    const key = /^[A-Za-z][A-Za-z0-9-]*(?=\s*(?:=|$|[#;]))/.exec(rest)?.[0];
    const value = key === undefined ? undefined : readValue(rest.slice(key.length).trimStart());
    if (key === undefined || value === unreadable) return { helper: "a line that is none of a configuration", settings };
    const setting = { section, subsection, key: key.toLowerCase(), value };
    if (!isHarmless(setting)) return { helper: `${section}.${setting.key}`, settings };
    settings.push(setting);
  }
  return { helper: undefined, settings };
}

const unreadable = Symbol("unreadable");
const escaped: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"' };

/** Reads the text behind a key: `= value`, a comment, or nothing. */
function readValue(text: string): string | undefined | typeof unreadable {
  if (!text.startsWith("=")) return undefined;
  let value = "";
  /** Blanks at the end that are not quoted are dropped. */
  let kept = 0;
  let isQuoted = false;
  const rest = text.slice(1).trimStart();
  for (let index = 0; index < rest.length; index++) {
    const character = rest.charAt(index);
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "#" || character === ";")) break;
    else if (character === "\\") {
      const meant = escaped[rest.charAt(++index)];
      if (meant === undefined) return unreadable;
      value += meant;
    } else value += character;
    if (isQuoted || !/\s/.test(character)) kept = value.length;
  }
  return isQuoted ? unreadable : value.slice(0, kept);
}

/** `[core]`, `[remote "origin"]`, and the old `[remote.origin]`, which no key is looked up for. */
const sectionHeader = /^\[\s*([A-Za-z0-9-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]/;

/** Nothing in them makes git run a program. */
const harmlessSections = nameSet(
  `user author committer branch color column push pull advice init rerere index blame fetch pack http gui gitflow
  maintenance rebase feature receive transfer vscode hub gh`,
);

/** Harmless keys of other sections. */
const harmlessKeys: Readonly<Record<string, ReadonlySet<string>>> = {
  core: nameSet(`repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode autocrlf eol safecrlf symlinks
    longpaths quotepath hookspath fsmonitor untrackedcache commentchar abbrev excludesfile protecthfs protectntfs compression
    preloadindex sparsecheckout sparsecheckoutcone whitespace commitgraph multipackindex checkstat trustctime sharedrepository
    splitindex ignorestat attributesfile editor pager worktree`),
  remote: nameSet("url pushurl fetch push prune prunetags tagopt mirror skipdefaultupdate skipfetchall gh-resolved pushdefault"),
  submodule: nameSet("url active recurse fetchjobs branch"),
  diff: nameSet(
    "algorithm renames renamelimit colormoved colormovedws context mnemonicprefix noprefix wserrorhighlight indentheuristic statgraphwidth",
  ),
  merge: nameSet("conflictstyle ff log renames renamelimit stat autostash branchdesc"),
  log: nameSet("date decorate follow abbrevcommit graphcolors mailmap showroot"),
  commit: nameSet("template verbose status cleanup gpgsign"),
  tag: nameSet("sort gpgsign forcesignannotated"),
  gc: nameSet("auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire"),
  status: nameSet("short branch color column aheadbehind relativepaths renames renamelimit showuntrackedfiles showstash"),
  lfs: nameSet("repositoryformatversion access locksverify url pushurl fetchinclude fetchexclude"),
  extensions: nameSet("objectformat refstorage worktreeconfig noop"),
};

function isKnown(section: string): boolean {
  return harmlessSections.has(section) || Object.hasOwn(harmlessKeys, section);
}

function isHarmless({ section, key }: GitSetting): boolean {
  return harmlessSections.has(section) || getOwn(harmlessKeys, section)?.has(key) === true;
}
