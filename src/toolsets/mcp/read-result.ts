import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../protocol/json.ts";
import { toJsonValue } from "../../util/to-json-value.ts";

const maxResultCharacters = 100_000;

/** Returns the structured content, otherwise the texts. Files are named and left out. */
export function toValue({ structuredContent, content = [] }: CallToolResult): JsonValue {
  if (structuredContent !== undefined) {
    const value = toJsonValue(structuredContent) as JsonValue;
    const text = JSON.stringify(value);
    return text.length <= maxResultCharacters ? value : clip(text);
  }
  return clip(content.map(describeBlock).join("\n"));
}

export function clip(text: string): JsonValue {
  if (text.length <= maxResultCharacters) return text;
  return { text: text.slice(0, maxResultCharacters).toWellFormed(), truncated: true, characters: text.length };
}

function describeBlock(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text.toWellFormed();
    case "image":
    case "audio":
      return `[${block.mimeType}, left out]`;
    case "resource_link":
      return `[resource ${block.uri}: ${block.name.toWellFormed()}]`;
    case "resource":
      return describeContents(block.resource);
  }
}

/** Returns the text of a resource. Binary contents are named and left out. */
export function describeContents(contents: ReadResourceResult["contents"][number]): string {
  if ("text" in contents) return contents.text.toWellFormed();
  return `[resource ${contents.uri}, ${contents.mimeType ?? "binary"}, left out]`;
}
