import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../protocol/json.ts";
import type { FilePart } from "../../protocol/message.ts";
import { toJsonValue } from "../../util/json/to-json-value.ts";
import { toFilePart } from "../attachments.ts";
import { type ValueWithFiles, withFiles } from "../results/result-files.ts";

const maxResultCharacters = 100_000;
/** Bounds of the files of one result. */
const maxFiles = 20;
const maxFileBytes = 10_000_000;

type ResourceContents = ReadResourceResult["contents"][number];

/** Returns the structured content, otherwise the texts, with the pictures, sounds and binary resources. */
export async function toValue({ structuredContent, content = [] }: CallToolResult): Promise<JsonValue | ValueWithFiles> {
  const files: FilePart[] = [];
  const texts: string[] = [];
  for (const block of content) texts.push(await readBlock(block, files));
  if (structuredContent === undefined) return withFiles(clip(texts.join("\n")), files);
  const value = toJsonValue(structuredContent) as JsonValue;
  const text = JSON.stringify(value);
  return withFiles(text.length <= maxResultCharacters ? value : clip(text), files);
}

/** Returns the texts of a resource, with its binary contents. */
export async function toContents(contents: readonly ResourceContents[]): Promise<JsonValue | ValueWithFiles> {
  const files: FilePart[] = [];
  const texts: string[] = [];
  for (const one of contents) texts.push(await readContents(one, files));
  return withFiles(clip(texts.join("\n")), files);
}

export function clip(text: string): JsonValue {
  if (text.length <= maxResultCharacters) return text;
  return { text: text.slice(0, maxResultCharacters).toWellFormed(), truncated: true, characters: text.length };
}

async function readBlock(block: CallToolResult["content"][number], files: FilePart[]): Promise<string> {
  switch (block.type) {
    case "text":
      return block.text.toWellFormed();
    case "image":
    case "audio":
      return `[${await keepFile(block.data, { kind: block.type, files })}]`;
    case "resource_link":
      return `[resource ${block.uri}: ${block.name.toWellFormed()}]`;
    case "resource":
      return readContents(block.resource, files);
  }
}

async function readContents(contents: ResourceContents, files: FilePart[]): Promise<string> {
  if ("text" in contents) return contents.text.toWellFormed();
  return `[resource ${contents.uri}: ${await keepFile(contents.blob, { kind: "file", files })}]`;
}

interface FilePlace {
  readonly kind: "image" | "audio" | "file";
  /** Those of the result so far. */
  readonly files: FilePart[];
}

/** Adds a file, and returns its name, its type by its content, and its size. The type that the server says is not looked at. */
async function keepFile(base64: string, { kind, files }: FilePlace): Promise<string> {
  const bytes = Buffer.from(base64, "base64");
  const file = await toFilePart(`${kind}-${files.length + 1}`, bytes);
  const facts = `${file.name}, ${file.mediaType}, ${file.bytes} bytes`;
  const total = files.reduce((sum, one) => sum + one.bytes, file.bytes);
  if (file.bytes === 0) return `${facts}: empty`;
  if (files.length === maxFiles || total > maxFileBytes)
    return `${facts}: left out, a result has at most ${maxFiles} files of ${maxFileBytes} bytes together`;
  files.push(file);
  return facts;
}
