import { isUtf8 } from "node:buffer";
import { type Dirent, readdirSync, realpathSync } from "node:fs";

/*
 * Names of files are bytes on Linux, and need not be UTF-8. In our texts a byte that belongs to no character stands as a lone surrogate from
 * U+DC80, so that each name is a text of its own, which no virtual path can hold.
 */

/** A path as calls of the system take it. */
export type SystemPath = string | Buffer;

/** The path with the bytes that its lone surrogates stand for. */
export function toSystemPath(path: string): SystemPath {
  return path.isWellFormed() ? path : toPathBytes(path);
}

export function toPathBytes(text: string): Buffer {
  // The `u` flag limits the surrogates to those without a partner.
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) - 0xdc00))),
  );
}

export function toPathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)));
    text += length === undefined ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString("utf8", at, at + length);
    at += length ?? 1;
  }
  return text;
}

/** The path without links. Throws if there is nothing. */
export function findRealPath(path: string): string {
  return toPathText(realpathSync.native(toSystemPath(path), "buffer"));
}

/** Lists a folder. Node puts U+FFFD for bytes that are no UTF-8; a folder with such names is listed again, by bytes. */
export function listFolder(folder: SystemPath): readonly Dirent[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (!entries.some(({ name }) => name.includes("\ufffd"))) return entries;
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" }).map((entry) =>
    Object.assign(Object.create(entry), { name: toPathText(entry.name) }),
  );
}
