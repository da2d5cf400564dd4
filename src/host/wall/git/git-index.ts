import { toPathText } from "../../files/system-path.ts";

/** Size of the facts of an entry: times, device, inode, mode, owner and size. */
const statBytes = 40;
const modeOffset = 24;
const folder = 0o040000;
const formatMask = 0o170000;
const hasMoreFlags = 0x4000;
/** Size of the head of an extension: its name and its length. */
const extensionHeader = 8;

/**
 * Returns the paths in an index, from the top of the work tree, as git's own documentation describes the format (`gitformat-index(5)`,
 * versions 2 to 4). `hashBytes`: 20, or 32 in a repository of SHA-256. Undefined if not all of them are in it: it is split, leaves
 * folders out, or cannot be read.
 */
export function readIndexPaths(index: Buffer, hashBytes: number): readonly string[] | undefined {
  try {
    return readEntries(index, hashBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readEntries(index: Buffer, hashBytes: number): readonly string[] | undefined {
  const version = index.readUInt32BE(4);
  if (index.readUInt32BE(0) !== 0x44495243 || version < 2 || version > 4) return undefined;
  const paths: string[] = [];
  let at = 12;
  let path: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const start = at;
    if ((index.readUInt32BE(at + modeOffset) & formatMask) === folder) return undefined;
    at += statBytes + hashBytes;
    const isExtended = version > 2 && (index.readUInt16BE(at) & hasMoreFlags) !== 0;
    at += isExtended ? 4 : 2;
    // Version 4 names the end of a path alone: how much of the path before is dropped stands in front of it.
    const dropped = version === 4 ? readNumber(index, at) : { value: path.length, end: at };
    const end = index.indexOf(0, dropped.end);
    if (dropped.value > path.length || end === -1) return undefined;
    path = Buffer.concat([path.subarray(0, path.length - dropped.value), index.subarray(dropped.end, end)]);
    paths.push(toPathText(path));
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return isWhole(index, at, hashBytes) ? paths : undefined;
}

/** Numbers of any length, seven bits a byte, as in packs. */
function readNumber(bytes: Buffer, at: number): { readonly value: number; readonly end: number } {
  let byte = bytes.readUInt8(at);
  let value = byte & 0x7f;
  let end = at + 1;
  for (; (byte & 0x80) !== 0; end++) {
    byte = bytes.readUInt8(end);
    value = (value + 1) * 0x80 + (byte & 0x7f);
  }
  return { value, end };
}

/** An index can continue in another file, or leave out folders that are not checked out: an extension says so. */
function isWhole(index: Buffer, from: number, hashBytes: number): boolean {
  const end = index.length - hashBytes;
  for (let at = from; at + extensionHeader <= end; at += extensionHeader + index.readUInt32BE(at + 4)) {
    const name = index.toString("latin1", at, at + 4);
    if (name === "link" || name === "sdir") return false;
  }
  return true;
}
