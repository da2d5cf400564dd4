import { isRecord } from "../protocol/json.ts";
import type { Redactor } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";

/** A value kept beside the journal under its digest. */
export interface Blob {
  readonly digest: string;
  readonly content: string | Uint8Array;
}

/** Longer strings go into blobs, so that a journal's lines stay lines. In UTF-16 units. */
const longestInline = 8192;

/** Replaces long strings, and the content of file parts, by references. The value itself is not changed. */
export function externalize(value: unknown, redactor: Redactor): { readonly value: unknown; readonly blobs: readonly Blob[] } {
  const blobs: Blob[] = [];
  return { value: replace(value, { blobs, redactor }), blobs };
}

interface Outside {
  readonly blobs: Blob[];
  readonly redactor: Redactor;
}

function replace(value: unknown, outside: Outside): unknown {
  const { blobs } = outside;
  if (typeof value === "string") return value.length > longestInline ? reference(value, blobs) : value;
  if (Array.isArray(value)) return value.map((item) => replace(item, outside));
  if (!isRecord(value)) return value;
  if (value["type"] === "file" && typeof value["data"] === "string" && typeof value["sha256"] === "string") {
    // Models and tools write objects of this shape too: a digest is a file name here, and only our own is one.
    const content = Buffer.from(value["data"], "base64");
    if (sha256(content) === value["sha256"]) {
      const blob = redacted(content, outside.redactor);
      blobs.push(blob);
      return { ...value, data: { $blob: blob.digest, bytes: content.length } };
    }
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [escapeKey(key), replace(member, outside)]));
}

/** A model may write an object that looks like one of our references: its key gets one `$` more, and loses it when read. */
function escapeKey(key: string): string {
  return /^\$+blob$/.test(key) ? `$${key}` : key;
}

/** Puts the content of blobs back where `externalize` left references. `read` resolves with the content of a digest. */
export async function internalize(value: unknown, read: (digest: string) => Promise<Uint8Array>): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => internalize(item, read)));
  if (!isRecord(value)) return value;
  const digest = referenceOf(value);
  if (digest !== undefined) return Buffer.from(await read(digest)).toString("utf8");
  const file = value["type"] === "file" ? referenceOf(value["data"]) : undefined;
  const members = Object.entries(value).map(async ([key, member]) => {
    const content = key === "data" && file !== undefined ? Buffer.from(await read(file)).toString("base64") : undefined;
    return [key.replace(/^\$(\$+blob)$/, "$1"), content ?? (await internalize(member, read))];
  });
  return Object.fromEntries(await Promise.all(members));
}

function referenceOf(value: unknown): string | undefined {
  const digest = isRecord(value) ? value["$blob"] : undefined;
  return typeof digest === "string" ? digest : undefined;
}

/** A text that was attached can hold a secret like any other. */
function redacted(content: Uint8Array, redactor: Redactor): Blob {
  const text = Buffer.from(content).toString("utf8");
  const shown = redactor.text(text);
  return shown === text ? { digest: sha256(content), content } : { digest: sha256(shown), content: shown };
}

function reference(text: string, blobs: Blob[]): { readonly $blob: string; readonly bytes: number } {
  const digest = sha256(text);
  blobs.push({ digest, content: text });
  return { $blob: digest, bytes: Buffer.byteLength(text) };
}
