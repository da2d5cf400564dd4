import { compileGlob } from "../../host/scopes/glob.ts";
import type { ListedFiles, ScopeDeclaration } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { RuleText } from "../toolset.ts";
import type { FileAccess, FileTool } from "./file-tool.ts";
import { coveredVisible, isEverything, seeing } from "./visible-scopes.ts";

export const patternProperty = {
  type: "string",
  default: "**/*",
  description:
    "Which files below path: * within a name, ** for any folders, ? [a-z] {a,b}. Names that begin with a dot need the dot.",
};

export const listFiles: FileTool = {
  name: "list_files",
  access: "read",
  description: "List the files below a folder whose path matches a pattern, sorted.",
  properties: {
    path: { type: "string", default: ".", description: "The folder." },
    pattern: patternProperty,
  },
  required: [],
  prepare: async (args, access) => {
    const { pattern, ...about } = await lookAtFolder(args, access);
    const { virtualPath } = about;
    return {
      ...about,
      canonicalArgs: { path: virtualPath, pattern },
      description: `List ${pattern} in ${virtualPath}`,
      execute: (now) => list(now, { ...about, pattern }),
    };
  },
};

/** Looks at the folder in which a walk begins, and at the rules that hold there. Fails as the walk would. */
export async function lookAtFolder(args: JsonObject, access: FileAccess) {
  const path = String(args["path"] ?? ".");
  const found = await seeing(access, async () => {
    const scopes = coveredVisible(access, path);
    if (isEverything(access.scopes, path)) return { virtualPath: ".", scopes, protection: undefined };
    const { virtualPath } = await access.scopes.facts(path);
    return { virtualPath, scopes, protection: access.scopes.protection(access.scopes.resolve(virtualPath)) };
  });
  const pattern = String(args["pattern"] ?? patternProperty.default);
  compileGlob(pattern);
  const facts = { scopes: found.scopes.map((scope) => scope.name) };
  return { ...found, pattern, facts, pathTexts: textsOfFolder({ ...found, pattern }) };
}

/** A folder stands for all that lies in it, as far as the pattern reaches, and for the scopes whose roots lie there. */
function textsOfFolder({ virtualPath, pattern, scopes }: Walk): readonly RuleText[] {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  const end = parts.findIndex((part) => /[^\w .-]/.test(part));
  const fixed = parts.slice(0, end === -1 ? -1 : end);
  const start = [...(virtualPath === "." ? [] : [virtualPath]), ...fixed].map((name) => `${name}/`).join("");
  const names = scopes.map(({ name }) => name);
  // Without a default scope, `.` has them side by side, and patterns begin with their names.
  const isSideBySide = virtualPath === "." && !names.includes(".");
  const nested = isSideBySide ? [] : names.filter((name) => name !== "." && !isBelow(virtualPath, name));
  return [virtualPath, ...[start, ...nested.map((name) => `${name}/`)].map((text) => ({ text, open: true }))];
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

export interface Walk {
  readonly virtualPath: string;
  readonly pattern: string;
  readonly scopes: readonly ScopeDeclaration[];
}

async function list(access: FileAccess, { virtualPath, pattern, scopes }: Walk): Promise<JsonObject> {
  const { signal, config } = access;
  const names = scopes.map((scope) => scope.name);
  const options = { pattern, maxEntries: config.max_entries, signal, scopes: names };
  const { paths, truncated, ...walked } = await access.scopes.list(virtualPath, options);
  const cut = `The first ${paths.length} files; there are more. List a folder further down, or use a narrower pattern.`;
  return { files: paths, truncated, ...(truncated ? { note: cut } : {}), ...notListed(walked) };
}

/** Names what a walk left out, so that it can be looked at by itself. */
export function notListed({ tooDeep, unnameable }: Pick<ListedFiles, "tooDeep" | "unnameable">): JsonObject {
  return {
    ...(tooDeep.length > 0 ? { not_looked_into: { reason: "too many folders down", folders: [...tooDeep] } } : {}),
    ...(unnameable > 0 ? { left_out: { reason: "no path can hold these names", count: unnameable } } : {}),
  };
}
