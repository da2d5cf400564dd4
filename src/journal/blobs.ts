import { isRecord } from "../protocol/json.ts";
import { sha256 } from "../util/sha256.ts";

/** A value kept beside the journal under its digest. */
export interface Blob {
  readonly digest: string;
  readonly content: string | Uint8Array;
}

/** Longer strings go into blobs, so that a journal's lines stay lines. In UTF-16 units. */
const longestInline = 8192;

/** Replaces long strings, and the content of file parts, by references. The value itself is not changed. */
export function externalize(value: unknown): { readonly value: unknown; readonly blobs: readonly Blob[] } {
  const blobs: Blob[] = [];
  return { value: replace(value, blobs), blobs };
}

function replace(value: unknown, blobs: Blob[]): unknown {
  if (typeof value === "string") return value.length > longestInline ? reference(value, blobs) : value;
  if (Array.isArray(value)) return value.map((item) => replace(item, blobs));
  if (!isRecord(value)) return value;
  if (value["type"] === "file" && typeof value["data"] === "string" && typeof value["sha256"] === "string") {
    const content = Buffer.from(value["data"], "base64");
    blobs.push({ digest: value["sha256"], content });
    return { ...value, data: { $blob: value["sha256"], bytes: content.length } };
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member, blobs)]));
}

function reference(text: string, blobs: Blob[]): { readonly $blob: string; readonly bytes: number } {
  const digest = sha256(text);
  blobs.push({ digest, content: text });
  return { $blob: digest, bytes: Buffer.byteLength(text) };
}
