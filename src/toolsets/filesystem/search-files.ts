import { LineSearchTimeout } from "../../host/scopes/line-search.ts";
import type { FoundLines } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { toolFailure } from "../toolset.ts";
import type { FileAccess, FileTool } from "./file-tool.ts";
import { lookAtFolder, notListed, patternProperty, type Walk } from "./list-files.ts";

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

async function search(access: FileAccess, { virtualPath, scopes, pattern, regex }: Search): Promise<JsonObject> {
  const { signal, config } = access;
  const names = scopes.map((scope) => scope.name);
  const limits = { maxMatches: config.max_entries, maxBytesOfFile, milliseconds: config.max_search_seconds * 1000 };
  try {
    const found = await access.scopes.search(virtualPath, { pattern, regex, signal, scopes: names, ...limits });
    const { matches, truncated, skipped } = found;
    const note = truncated ? { note: "There is more. Search a folder further down, or with a narrower pattern." } : {};
    return { matches: matches.map(toMatch), truncated, skipped_files: skipped, ...note, ...notListed(found) };
  } catch (error) {
    if (!(error instanceof LineSearchTimeout)) throw error;
    const took = `The search took longer than ${config.max_search_seconds} seconds.`;
    throw toolFailure("timeout", took, "Use a simpler expression, a folder further down or a narrower pattern.");
  }
}

function toMatch({ virtualPath, line, text }: FoundLines["matches"][number]): JsonObject {
  return { path: virtualPath, line, text: clipText(text, maxLineChars) };
}
