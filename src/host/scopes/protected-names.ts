import { nameSet } from "../../util/text/name-set.ts";
import { holdsNested, leadsToNested, nestNames } from "./nested-names.ts";
import type { Protection } from "./scopes.ts";
import { isSteeringName, leadsToSteeringName } from "./steering-names.ts";

/**
 * Names that steer a program or a machine, whether they exist or not. Compared folded: `.GIT`, full-width letters and a
 * dot or blank at the end name the same file on some disks.
 */
export function protectionOfName(components: readonly string[]): Protection | undefined {
  const folded = components.map(foldName);
  if (folded.some(asksToRead)) return "ask-read-and-write";
  return isWriteProtected(folded) || isSteeringName(folded) ? "ask-write" : undefined;
}

/** Returns whether a name asks before anything in it is read. */
export function isReadProtected(name: string): boolean {
  return !cannotAsk.test(name) && asksToRead(foldName(name));
}

/** Names in ASCII that begin with no dot, as their folds do, nor as names of keys. A walk meets hardly any others. */
const cannotAsk = /^(?!_netrc|id_)[!--/-~][ -~]*$/i;

function isWriteProtected(folded: readonly string[]): boolean {
  const last = folded.at(-1) ?? "";
  return (
    folded.some((name) => writeProtectedFolders.has(name)) ||
    holdsNested(folded, nestedFolders) ||
    writeProtected.has(last) ||
    programFile.test(last)
  );
}

/** Returns whether a link of this name would be on the way to names that are protected in a folder of it alone: `.github`. */
export function leadsToProtected(components: readonly string[]): boolean {
  const folded = components.map(foldName);
  return leadsToNested(folded, nestedFolders) || leadsToSteeringName(folded);
}

/** Workers, and programs that a tool runs. */
const programFile = /\.(?:worker|program\.js)$/;

/** Opens all names to a command that it calls settings of a project: those that version control keeps with the sources. */
export const projectSettings = "settings of the project";

/** Returns whether a name is opened to a command. `opened`: folded names or ends of paths, or `projectSettings`. */
export function isOpened(opened: ReadonlySet<string>, components: readonly string[]): boolean {
  const folded = components.map(foldName);
  if ([1, 2, 3].some((length) => opened.has(folded.slice(-length).join("/")))) return true;
  return opened.has(projectSettings) && isSteeringName(folded) && !isWriteProtected(folded) && !folded.some(asksToRead);
}

/** Returns the components below the deepest one that is opened. Other protected names in a folder that is opened are not. */
export function belowOpened(opened: ReadonlySet<string>, components: readonly string[]): readonly string[] {
  const path = `/${components.map(foldName).join("/")}/`;
  if (![...opened].some((name) => name === projectSettings || path.includes(`/${name}/`))) return components;
  return components.slice(components.findLastIndex((_, index) => isOpened(opened, components.slice(0, index + 1))) + 1);
}

/**
 * `HEAD`: without it git takes no folder for a repository, whose `config` starts programs. File tools ask for it. Commands do not:
 * they name `HEAD` all the time and mean no file.
 */
export function makesRepository(name: string): boolean {
  return foldName(name) === "head";
}

/** Returns whether the compiler would take a file of this name into the program of its folder. */
export function isProgramName(name: string): boolean {
  const folded = foldName(name);
  return programFile.test(folded) || programNames.has(folded);
}

/** Returns whether a program of any language may run or load a file of this name. Names without a suffix are not among them. */
export function isCodeName(name: string): boolean {
  const folded = foldName(name);
  return codeSuffix.test(folded) || scriptNames.has(folded);
}

const codeSuffix = new RegExp(
  `\\.(?:${[
    "py[cdiowx]?|pth|egg|whl|ipynb|so|dylib|dll|node|wasm|[cm]?[jt]sx?|rb|gemspec|pl|pm|t|php\\d?|phar|lua|jl|r|ex|exs|erl|beam|tcl",
    "sh|bash|zsh|fish|ksh|ps1|psm1|bat|cmd|exe|com|class|jar|war|java|kts?|scala|groovy|gradle|cljs?|swift|go|rs|c|cc|cpp|h|hpp|cs|fs|vb",
    "awk|sed|mk|cmake|scm|rkt|lisp|el|hs|ml|nix|just",
  ].join("|")})$`,
);

/** Files that tools of a language run by their name. */
const scriptNames = nameSet(
  "makefile gnumakefile justfile rakefile gemfile cargo.toml go.mod pyproject.toml setup.cfg build.xml pom.xml mix.exs uv.lock",
  "__main__ taskfile.yml taskfile.yaml deno.json deno.jsonc tsconfig.json",
);

/** Returns the same form for all spellings that some file system takes for the same name. */
export function foldName(name: string): string {
  // The rest changes nothing in ASCII, and would take most of the time of a walk.
  if (/^[\x20-\x7e]*$/.test(name)) return withoutEnd(withoutStream(name).toLowerCase());
  // Ignorable characters: HFS+ drops them when it compares names.
  const visible = name.normalize("NFKC").replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "");
  return withoutEnd(withoutStream(visible).toLowerCase().toUpperCase().toLowerCase().normalize("NFKC"));
}

function withoutStream(name: string): string {
  const colon = name.indexOf(":");
  return colon === -1 ? name : name.slice(0, colon);
}

function withoutEnd(name: string): string {
  let end = name.length;
  while (name[end - 1] === "." || name[end - 1] === " ") end--;
  return name.slice(0, end);
}

function asksToRead(folded: string): boolean {
  return folded.startsWith(".env") || readProtected.has(folded);
}

const programNames = nameSet("llm-do.yaml llm-do.yml tools.ts tools.js tools.mjs tools.mts tools.cjs tools.cts");

const readProtected = nameSet(
  ".git .llm-do",
  // Files and folders of keys and passwords. Those that projects also keep other settings in (`.npmrc`, `.docker`) are not among them.
  ".ssh .gnupg .aws .password-store .netrc _netrc .pgpass .my.cnf .git-credentials .authinfo .authinfo.gpg .vault-token",
  "id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk",
);

const writeProtectedFolders = nameSet(".githooks .husky .vscode .idea .cursor .devcontainer .claude .codex .gemini .direnv");

const nestedFolders = nestNames(".github/workflows .config/git .config/fish .config/nvim .config/autostart .config/systemd");

const writeProtected = nameSet(
  // Packages and their managers.
  "llm-do.yaml llm-do.yml package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml .pypirc",
  // Version control and agents.
  ".gitconfig .gitmodules .gitattributes .pre-commit-config.yaml lefthook.yml .mcp.json",
  // Start-up files of shells and sessions.
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc",
  ".tcshrc .login .inputrc .xinitrc .xprofile .xsession",
  // Editors.
  ".vimrc .exrc .nvimrc .emacs .dir-locals.el .editorconfig",
);
