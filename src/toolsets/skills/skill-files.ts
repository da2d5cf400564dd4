import { ScopeError, type Scopes } from "../../host/scopes/scopes.ts";
import { sha256 } from "../../util/sha256.ts";
import { formatCount } from "../../util/text/format-count.ts";

/** In all files of one root. */
const mostFiles = 2000;
const mostBytes = 50_000_000;
const mostLevels = 16;

/** Bytes of a `SKILL.md`. */
const mostOfSkill = 1_000_000;

/** The files of one root of skills, as they were when the program was compiled. */
export interface SkillFiles {
  /** As in `ScopeDeclaration.pinned`. */
  readonly pinned: Readonly<Record<string, string>>;
  /** The `SKILL.md` of each folder that has one. */
  readonly texts: ReadonlyMap<string, string>;
  /** Reasons why files are not read, by path: no tool reads them either. Links are refused by every read, and those that are no `SKILL.md` left out. */
  readonly unread: ReadonlyMap<string, string>;
  /** Folders in which another scope decides. */
  readonly nested: readonly string[];
  /** Files that are not as their scope pins them, or that it does not pin. */
  readonly changed: readonly string[];
}

/** Reads all files of the one scope that is open, but those that ask before they are read. Rejects with a `ScopeError` if its folder cannot be listed. */
export async function readSkillFiles(scopes: Scopes, scope: string): Promise<SkillFiles> {
  const pinned: [string, string][] = [];
  const texts = new Map<string, string>();
  const unread = new Map<string, string>();
  const nested: string[] = [];
  const changed: string[] = [];
  let bytes = 0;
  const readFile = async (path: string, size: number) => {
    const isSkill = isSkillFile(path);
    if (pinned.length >= mostFiles) return void unread.set(path, `there are more than ${formatCount(mostFiles)} files`);
    if (size > mostBytes - bytes)
      return void unread.set(path, `the files have more than ${formatCount(mostBytes)} bytes together`);
    if (isSkill && size > mostOfSkill) return void unread.set(path, `it has more than ${formatCount(mostOfSkill)} bytes`);
    const file = await scopes.read(`${scope}/${path}`);
    bytes += file.bytes.length;
    pinned.push([path, sha256(file.bytes)]);
    if (isSkill) texts.set(path.slice(0, path.indexOf("/")), new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.bytes));
  };
  const visit = async (path: string, level: number): Promise<void> => {
    try {
      if (scopes.protection(scopes.resolve(`${scope}/${path}`)) === "ask-read-and-write") return;
      const facts = await scopes.facts(`${scope}/${path}`);
      if (facts.scope.name !== scope) nested.push(path);
      else if (facts.type === "directory") {
        if (isSkillFile(path)) unread.set(path, "it is a folder");
        await list(path, level);
      } else await readFile(path, facts.bytes);
    } catch (thrown) {
      if (!(thrown instanceof ScopeError)) throw thrown;
      if (thrown.type === "changed") changed.push(path);
      if (isListed(path, thrown)) unread.set(path, whyUnread(thrown));
    }
  };
  const list = async (path: string, level: number): Promise<void> => {
    const names = level < mostLevels ? await scopes.names(`${scope}/${path}`, mostFiles) : undefined;
    if (!names) return void unread.set(path, "it has too many files, or too many folders in one another");
    for (const name of [...names].sort()) await visit(path === "" ? name : `${path}/${name}`, level + 1);
  };
  await list("", 0);
  return { pinned: Object.fromEntries(pinned), texts, unread, nested, changed };
}

function isSkillFile(path: string): boolean {
  return /^[^/]*\/SKILL\.md$/.test(path);
}

/** A link in a skill, or what is no file, is refused by each read. It is told where a skill is lost. */
function isListed(path: string, { type }: ScopeError): boolean {
  return !isNoFile(type) || isSkillFile(path) || !path.includes("/");
}

function isNoFile(type: ScopeError["type"]): boolean {
  return type === "not_a_file" || type === "path_outside_scope";
}

function whyUnread({ type, message }: ScopeError): string {
  if (isNoFile(type)) return "it is a link, or no file";
  return type === "invalid_path" ? "its name cannot be written as a path" : message;
}

/** Rejects if a skill is not as it was trusted: a command is about to see all of its files. */
export async function assertPinned(scopes: Scopes): Promise<void> {
  for (const { name, pinned } of scopes.declarations) {
    if (!pinned) continue;
    const now = await readSkillFiles(scopes, name);
    const isNested = (path: string) => now.nested.some((folder) => path.startsWith(`${folder}/`));
    const gone = Object.keys(pinned).find((path) => pinned[path] !== now.pinned[path] && !isNested(path));
    const changed = now.changed[0] ?? gone;
    if (changed !== undefined) throw new ScopeError("changed", `"${name}/${changed}" of a skill changed since it was trusted.`);
  }
}
