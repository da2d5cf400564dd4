import { type LineMatch, LineSearchTimeout, openLineSearch } from "../../host/line-search.ts";
import { isText } from "../../host/media-type.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/clip-text.ts";
import { toolFailure } from "../toolset.ts";
import type { FileAccess, FileTool } from "./file-tool.ts";
import { lookAtFolder, notLookedInto, patternProperty, type Walk } from "./list-files.ts";

const maxMilliseconds = 10_000;
const maxFiles = 20_000;
const maxBytesOfFile = 5_000_000;
const maxLineChars = 300;

export const searchFiles: FileTool = {
  name: "search_files",
  access: "read",
  description: "Search text files for a regular expression (JavaScript), line by line. Gives path, line number and the line.",
  properties: {
    path: { type: "string", default: ".", description: "The folder, or one file." },
    regex: { type: "string", minLength: 1, maxLength: 1000, description: "The regular expression, without slashes or flags." },
    pattern: patternProperty,
  },
  required: ["regex"],
  prepare: async (args, access) => {
    const regex = checkRegex(String(args["regex"]));
    const { pattern, ...about } = await lookAtFolder(args, access);
    const { virtualPath } = about;
    return {
      ...about,
      canonicalArgs: { path: virtualPath, regex, pattern },
      description: `Search ${pattern} in ${virtualPath} for ${regex}`,
      execute: (now) => search(now, { ...about, pattern, regex }),
    };
  },
};

function checkRegex(regex: string): string {
  try {
    new RegExp(regex);
    return regex;
  } catch (error) {
    throw toolFailure("invalid_arguments", error instanceof Error ? error.message : "regex is not a regular expression");
  }
}

interface Search extends Walk {
  readonly regex: string;
}

async function search(access: FileAccess, wanted: Search): Promise<JsonObject> {
  const { paths, tooDeep, ...listed } = await filesOf(access, wanted);
  const matches: JsonObject[] = [];
  let { truncated } = listed;
  let skipped = 0;
  const lines = openLineSearch(wanted.regex, { milliseconds: maxMilliseconds, signal: access.signal });
  try {
    for (const path of paths) {
      access.signal.throwIfAborted();
      const text = await readText(access, path);
      const room = access.config.max_entries - matches.length;
      const hits = text === undefined ? [] : await lines.find(text, room + 1);
      if (text === undefined) skipped++;
      if (hits.length > room) truncated = true;
      matches.push(...hits.slice(0, room).map((hit) => toMatch(path, hit)));
      if (truncated && matches.length >= access.config.max_entries) break;
    }
  } catch (error) {
    if (!(error instanceof LineSearchTimeout)) throw error;
    const took = `The search took longer than ${maxMilliseconds / 1000} seconds.`;
    throw toolFailure("timeout", took, "Use a simpler expression or fewer files.");
  } finally {
    await lines.close();
  }
  const note = truncated ? { note: "There is more. Search a folder further down, or with a narrower pattern." } : {};
  return { matches, truncated, skipped_files: skipped, ...note, ...notLookedInto(tooDeep) };
}

async function filesOf(access: FileAccess, { virtualPath, pattern, scopes }: Search) {
  const names = scopes.map((scope) => scope.name);
  const isFile = virtualPath !== "." && (await access.scopes.facts(virtualPath)).type === "file";
  if (isFile) return { paths: [virtualPath], truncated: false, tooDeep: [] };
  return access.scopes.list(virtualPath, { pattern, maxEntries: maxFiles, signal: access.signal, scopes: names });
}

/** Undefined for a file that is gone, too large or not text: it is counted, and the search goes on. */
async function readText({ scopes }: FileAccess, path: string): Promise<string | undefined> {
  const file = await scopes.read(path, { maxBytes: maxBytesOfFile + 1 }).catch(() => undefined);
  if (file === undefined || file.bytes.length > maxBytesOfFile || !isText(file.bytes)) return undefined;
  return new TextDecoder().decode(file.bytes);
}

function toMatch(path: string, { line, column, text }: LineMatch): JsonObject {
  const start = column > maxLineChars / 2 && text.length > maxLineChars ? column - Math.floor(maxLineChars / 3) : 0;
  return { path, line, text: clipText(text.slice(start), maxLineChars) };
}
