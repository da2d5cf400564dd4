import type { Scopes } from "../host/scopes/scopes.ts";
import type { AttachmentPreview } from "../protocol/approval.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import type { AttachmentErrorType, JsonSchema } from "../protocol/tool.ts";
import { sha256 } from "../util/sha256.ts";
import { type AttachmentHandle, ToolFailure } from "./toolset.ts";

/** How a schema says that a string names an attachment. */
export const attachmentKeyword = "x-llm-do";

/** The attachment values of an input, in the order in which they stand in it. */
export function attachmentPaths(schema: JsonSchema, value: JsonValue): string[] {
  if (schema[attachmentKeyword] === "attachment") return typeof value === "string" ? [value] : [];
  if (Array.isArray(value)) {
    const items = schema["items"];
    return isRecord(items) ? value.flatMap((item: JsonValue) => attachmentPaths(items as JsonSchema, item)) : [];
  }
  const properties = schema["properties"];
  if (!isRecord(value) || !isRecord(properties)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return isRecord(property) ? attachmentPaths(property as JsonSchema, member as JsonValue) : [];
  });
}

/** An input with its attachments in their one form, given in the order of `attachmentPaths`. */
export function withAttachmentPaths(schema: JsonSchema, value: JsonValue, paths: Iterator<string>): JsonValue {
  if (schema[attachmentKeyword] === "attachment") return typeof value === "string" ? (paths.next().value ?? value) : value;
  if (Array.isArray(value)) {
    const items = schema["items"];
    return isRecord(items) ? value.map((item: JsonValue) => withAttachmentPaths(items as JsonSchema, item, paths)) : value;
  }
  const properties = schema["properties"];
  if (!isRecord(value) || !isRecord(properties)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [
      key,
      isRecord(property) ? withAttachmentPaths(property as JsonSchema, member as JsonValue, paths) : (member as JsonValue),
    ];
  });
  return Object.fromEntries(members);
}

/** The field of an input schema that attachments go to, and whether it takes several. */
export function attachmentField(schema: JsonSchema): { readonly name: string; readonly many: boolean } | undefined {
  const properties = schema["properties"];
  for (const [name, property] of isRecord(properties) ? Object.entries(properties) : []) {
    if (!isRecord(property)) continue;
    if (property[attachmentKeyword] === "attachment") return { name, many: false };
    if (isRecord(property["items"]) && property["items"][attachmentKeyword] === "attachment") return { name, many: true };
  }
  return undefined;
}

/** An input schema as a caller's model sees it: attachments are paths in the caller's scopes. */
export function toToolSchema(schema: JsonSchema): JsonSchema {
  const { [attachmentKeyword]: keyword, ...rest } = schema;
  if (keyword === "attachment") {
    const path = "the path of a file that you can read; its content is sent along";
    return { ...rest, description: typeof rest["description"] === "string" ? `${rest["description"]} (${path})` : path };
  }
  const { items, properties } = schema;
  return {
    ...rest,
    ...(isRecord(items) ? { items: toToolSchema(items as JsonSchema) } : {}),
    ...(isRecord(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [
              name,
              isRecord(property) ? toToolSchema(property as JsonSchema) : property,
            ]),
          ) as JsonSchema,
        }
      : {}),
  };
}

/** Opens attachments through the caller's scopes: sizes first, content only when the policies accept all of them. */
export async function readAttachments(
  paths: readonly string[],
  scopes: Scopes,
  policies: readonly AttachmentPolicy[],
): Promise<FilePart[]> {
  for (const policy of policies) checkCount(paths.length, policy);
  const facts = [];
  for (const path of paths) facts.push(await scopes.facts(path));
  const sizes = facts.map(({ virtualPath, bytes }) => ({ name: virtualPath, bytes }));
  for (const policy of policies) checkFiles(sizes, policy);
  const files: FilePart[] = [];
  for (const path of paths) {
    const { facts: opened, bytes } = await scopes.read(path);
    files.push(await toFilePart(opened.virtualPath, bytes));
  }
  // Again, on what was read: a file may have grown since.
  for (const policy of policies) checkFiles(files, policy);
  for (const policy of policies) checkContents(files, policy);
  return files;
}

/** Finds the first file that is read on approval: its name is protected, or its scope says so. Undefined if there is none. */
export async function findAskingFile(names: readonly string[], scopes: Scopes): Promise<string | undefined> {
  for (const name of names) {
    const { scope, protection } = await scopes.inspect(name, "read");
    if (scope.readApproval || protection === "ask-read-and-write") return name;
  }
  return undefined;
}

/** Checks files that are in memory already (given on the command line, or by a program). */
export function checkAttachments(files: readonly FilePart[], policy: AttachmentPolicy): void {
  checkAttachmentSizes(files, policy);
  checkContents(files, policy);
}

export interface FileSize {
  readonly name: string;
  readonly bytes: number;
}

/** Checks what is known of files before they are read. */
export function checkAttachmentSizes(files: readonly FileSize[], policy: AttachmentPolicy): void {
  checkCount(files.length, policy);
  checkFiles(files, policy);
}

export async function toFilePart(name: string, bytes: Uint8Array): Promise<FilePart> {
  const { sniffMediaType } = await import("../host/files/media-type.ts");
  return {
    type: "file",
    name,
    mediaType: await sniffMediaType(bytes, name),
    bytes: bytes.length,
    sha256: sha256(bytes),
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64"),
  };
}

export function toHandle(file: FilePart): AttachmentHandle {
  const { name, mediaType, bytes, sha256: digest } = file;
  return { name, mediaType, bytes, sha256: digest, read: async () => Buffer.from(file.data, "base64"), toFilePart: () => file };
}

/** Describes a file for a person. */
export function toPreview({ name, mediaType, bytes }: FilePart): AttachmentPreview {
  return { name, mediaType, bytes };
}

/** The input as it was given, for journals and prompts: attachment values are the files' names. */
export function describeFiles(files: readonly FilePart[]): JsonObject[] {
  return files.map(({ name, mediaType, bytes, sha256: digest }) => ({ name, mediaType, bytes, sha256: digest }));
}

function checkCount(count: number, policy: AttachmentPolicy): void {
  if (count > policy.maxAttachments)
    refuse("too_many_attachments", `${count} attachments; at most ${policy.maxAttachments} are taken`, "send fewer in one call");
}

function checkFiles(files: readonly FileSize[], policy: AttachmentPolicy): void {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > policy.maxTotalBytes) {
    refuse(
      "attachments_too_large",
      `the attachments have ${total} bytes; at most ${policy.maxTotalBytes} bytes are taken`,
      "send smaller or fewer files in one call",
    );
  }
  for (const { name } of files) {
    const suffix = suffixOf(name);
    if (
      policy.deniedSuffixes.includes(suffix) ||
      (policy.allowedSuffixes.length > 0 && !policy.allowedSuffixes.includes(suffix))
    ) {
      const allowed =
        policy.allowedSuffixes.length > 0
          ? `allowed: ${policy.allowedSuffixes.join(", ")}`
          : `denied: ${policy.deniedSuffixes.join(", ")}`;
      refuse("suffix_not_allowed", `attachments with the suffix \`${suffix}\` are not taken (\`${name}\`)`, allowed);
    }
  }
}

function checkContents(files: readonly FilePart[], policy: AttachmentPolicy): void {
  if (policy.mediaTypes.length === 0) return;
  for (const { name, mediaType } of files) {
    if (!policy.mediaTypes.some((pattern) => matchesMediaType(pattern, mediaType))) {
      refuse(
        "media_type_not_allowed",
        `\`${name}\` is ${mediaType}, which is not taken`,
        `allowed: ${policy.mediaTypes.join(", ")}`,
      );
    }
  }
}

function matchesMediaType(pattern: string, mediaType: string): boolean {
  return pattern.endsWith("/*") ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType;
}

function suffixOf(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const dot = base.lastIndexOf(".");
  return dot > 0 ? base.slice(dot).toLowerCase() : "";
}

function refuse(type: AttachmentErrorType | "suffix_not_allowed", error: string, hint: string): never {
  throw new ToolFailure({ type, error, hint });
}
