import type { JsonObject } from "../../../src/protocol/json.ts";
import type { Effects } from "./play-line.ts";
import { tokens } from "./playground-files.ts";
import { changesBetween, type Tree } from "./tree.ts";

export interface Happened {
  readonly before: Tree;
  readonly after: Tree;
  readonly heard: readonly string[];
  readonly result: JsonObject | undefined;
}

/** Folders of the scopes below the playground's root, the deepest first. */
const folders: Readonly<Record<string, string>> = {
  notes: "work/out/notes",
  docs: "work/docs",
  out: "work/out",
  secret: "work/secret",
  free: "work/free",
  small: "work/small",
  ".": "work",
};

/** Names that stay what they are unless the call opens them, in my own words: the product's table is what is tested. */
const held =
  /^(?:\.git|\.env.*|\.llm-do|package\.json|\.npmrc|\.gitmodules|\.gitattributes|\.vscode|\.husky|\.envrc|\.mcp\.json|\.bashrc|\.ssh|\.netrc|id_ed25519|.*\.worker|tools\.[cm]?[jt]s|llm-do\.ya?ml)$/i;
const nestedHeld = /(?:^|\/)(?:\.github\/workflows|\.hg\/hgrc)(?:\/|$)/;

/** Files below `.git` that steer what git runs. */
const steering =
  /^(?:modules\/.+\/|worktrees\/[^/]+\/)?(?:config(?:\.worktree)?(?:\.lock)?|commondir|(?<!refs\/)(?:remotes|branches)\/(?!.*moved-aside)[^/]+|info\/attributes|objects\/info\/(?:http-)?alternates)$/;

/** What happened beyond the effects that were granted, a text each. */
export function differencesOf(granted: Effects, { before, after, heard, result }: Happened): readonly string[] {
  const changed = changesBetween(before, after);
  const beyond = changed.filter((path) => !mayChange(granted, path, { before, after }));
  const told = [JSON.stringify(result ?? {}), ...changed.map((path) => String(after.get(path)?.content ?? ""))].join("\n");
  const read = Object.entries(tokens).filter(([name, token]) => !mayRead(granted, name) && holds(told, token));
  return [
    ...beyond.map((path) => `changed ${path}`),
    ...read.map(([name]) => `read ${name}`),
    ...heard.map((what) => `reached ${what}`),
  ];
}

type Trees = Pick<Happened, "before" | "after">;

function mayChange({ writes = [], opens = [], scratch = false }: Effects, path: string, { before, after }: Trees): boolean {
  if (scratch) return false;
  const isGranted = writes.some((one) => isIn(path, folderOf(one)) && !isInOtherScope(path, one, writes));
  // A folder that is missing is made, and so are those above it.
  const isMade = writes.some((one) => isIn(folderOf(one), path) && !before.has(path));
  return isMade || (isGranted && !isHeld(path, opens, after.get(path)?.type === "folder"));
}

/** The place of a path of the tools: `out`, `out/x`, `src/x`. */
function folderOf(virtual: string): string {
  const [first = "", ...rest] = virtual.split("/");
  return [folders[first] ?? `work/${first}`, ...rest].join("/");
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isInOtherScope(path: string, granted: string, writes: readonly string[]): boolean {
  const scope = Object.entries(folders).find(([, folder]) => isIn(path, folder));
  if (scope === undefined || isIn(folderOf(granted), scope[1])) return false;
  return !writes.some((one) => isIn(folderOf(one), scope[1]));
}

function isHeld(path: string, opens: readonly string[], isFolder: boolean): boolean {
  const names = path.split("/");
  const inside = names.indexOf("node_modules");
  const seen = inside === -1 ? names : names.slice(0, inside);
  if (nestedHeld.test(path)) return !opens.some((one) => one.startsWith(".github"));
  const first = seen.findIndex((name) => held.test(name));
  if (first === -1) return false;
  const name = seen[first] ?? "";
  if (!opens.includes(name)) return true;
  if (name !== ".git") return false;
  const within = seen.slice(first + 1).join("/");
  if (/^(?:modules\/.+\/)?hooks(?:\/|$)/.test(within)) return !opens.includes(".git/hooks");
  // Git reads configuration and remotes from files: a folder of such a name steers nothing.
  return !isFolder && steering.test(within) && !opens.includes(".git/config");
}

function mayRead({ reads = [], opens = [] }: Effects, token: string): boolean {
  if (token === "secret") return reads.includes("secret");
  if (token === "suffix") return reads.includes("notes");
  if (token === "vault") return reads.includes(".git");
  return token === "credential" && opens.includes(".git/config");
}

/** Finds a token as it is, and as the usual filters leave it. */
function holds(text: string, token: string): boolean {
  if (!/[a-z0-9]/i.test(text)) return false;
  const forms = [token, [...token].reverse().join(""), Buffer.from(token).toString("hex"), token.toUpperCase()];
  const encoded = ["", "a", "ab"].map((before) => {
    const base64 = Buffer.from(before + token).toString("base64");
    return base64.slice(before.length === 0 ? 0 : 4, -4);
  });
  return [...forms, ...encoded].some((form) => text.includes(form));
}
