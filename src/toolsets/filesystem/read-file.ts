import type { JsonObject } from "../../protocol/json.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { aboutFile, type FileAccess, type FileTool, type FileWork } from "./file-tool.ts";
import { decodeText, wholeCharacterAt } from "./text.ts";
import { inspectVisible } from "./visible-scopes.ts";

export const readFile: FileTool = {
  name: "read_file",
  access: "read",
  description:
    "Read a text file (UTF-8). offset and max_chars count characters (UTF-16 units). When truncated is true, go on with offset = next_offset.",
  properties: {
    path: { type: "string", description: "The file, such as scope/folder/name.md." },
    offset: { type: "integer", minimum: 0, default: 0, description: "The first character to return." },
    max_chars: { type: "integer", minimum: 1, description: "How many characters to return at most." },
  },
  required: ["path"],
  prepare,
};

async function prepare(args: JsonObject, access: FileAccess): Promise<FileWork> {
  const target = await inspectVisible(access, String(args["path"]), "read");
  const { virtualPath } = target;
  const offset = Number(args["offset"] ?? 0);
  const max_chars = Math.min(Number(args["max_chars"] ?? access.config.max_chars), access.config.max_chars);
  const from = offset === 0 ? "" : ` from character ${formatCount(offset)}`;
  return {
    ...aboutFile(target),
    canonicalArgs: { path: virtualPath, offset, max_chars },
    description: `Read ${virtualPath}${from}`,
    execute: async (now) => {
      const { bytes } = await now.scopes.read(virtualPath);
      const { text } = await decodeText(bytes, virtualPath);
      return sliceText(text, offset, max_chars);
    },
  };
}

/** At least one whole character, so that reading on always ends. */
function sliceText(text: string, offset: number, maxChars: number): JsonObject {
  const start = wholeCharacterAt(text, Math.min(offset, text.length));
  const cut = wholeCharacterAt(text, Math.min(start + maxChars, text.length));
  const end = cut > start || start === text.length ? cut : Math.min(start + 2, text.length);
  const content = text.slice(start, end);
  const whole = { content, truncated: end < text.length, total_chars: text.length, offset: start };
  if (end >= text.length) return whole;
  const note = `Characters ${start} to ${end} of ${text.length}. Read on with offset: ${end}.`;
  return { ...whole, next_offset: end, note };
}
