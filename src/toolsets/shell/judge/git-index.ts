/** Folders of an index that git takes for repositories of their own. */
export interface GitLinks {
  readonly paths: readonly string[];
  /** Those of the folders that were asked for which hold an entry. */
  readonly holds: ReadonlySet<string>;
  /** Why not all of them are known. */
  readonly unknown?: string;
}

const gitlink = 0o160000;
const folder = 0o040000;
const formatMask = 0o170000;
/** Size of the facts of an entry: times, device, inode, mode, owner and size. */
const statBytes = 40;
const modeOffset = 24;
const hasMoreFlags = 0x4000;
/** Size of the head of an extension: its name and its length. */
const extensionHeader = 8;

export interface IndexFormat {
  /** 20, or 32 in a repository of SHA-256. */
  readonly hashBytes: number;
  /** Paths from the top of the work tree. */
  readonly folders?: readonly string[];
}

/**
 * The submodules in an index, as git's own documentation describes the format (versions 2 to 4). git enters each that has a
 * `.git` in its folder, whether or not `.gitmodules` names it.
 */
export function readGitlinks(index: Uint8Array, format: IndexFormat): GitLinks {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  try {
    return readEntries(view, index, format);
  } catch (error) {
    // Also what a view or a decoder throws at bytes that are not there, or are no text.
    if (error instanceof RangeError || error instanceof TypeError)
      return { paths: [], holds: new Set(), unknown: "its index cannot be read" };
    throw error;
  }
}

function readEntries(view: DataView, index: Uint8Array, { hashBytes, folders = [] }: IndexFormat): GitLinks {
  const version = readVersion(view);
  const paths: string[] = [];
  const holds = new Set<string>();
  const beginnings = folders.map((path) => [path, Buffer.from(`${path}/`)] as const);
  let at = 12;
  /** The path before, for version 4, where an entry names only the end of its path. */
  let name = new Uint8Array();
  for (let left = view.getUint32(8); left > 0; left--) {
    const start = at;
    const format = view.getUint32(at + modeOffset) & formatMask;
    at += statBytes + hashBytes;
    const isExtended = version > 2 && (view.getUint16(at) & hasMoreFlags) !== 0;
    at += isExtended ? 4 : 2;
    const dropped = version === 4 ? readNumber(view, at) : { value: name.length, end: at };
    const kept = name.length - dropped.value;
    const end = index.indexOf(0, dropped.end);
    if (kept < 0 || end === -1) throw new RangeError("a path without an end");
    if (version === 4 || format === gitlink) name = Buffer.concat([name.subarray(0, kept), index.subarray(dropped.end, end)]);
    const entry = version === 4 ? name : index.subarray(dropped.end, end);
    for (const [path, beginning] of beginnings) if (beginsWith(entry, beginning)) holds.add(path);
    if (format === folder) return { paths, holds, unknown: "its index leaves folders out" };
    if (format === gitlink) paths.push(new TextDecoder("utf-8", { fatal: true }).decode(name));
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return { paths, holds, ...readExtensions(view, at, hashBytes) };
}

function readVersion(view: DataView): number {
  const version = view.getUint32(4);
  if (view.getUint32(0) !== 0x44495243 || version < 2 || version > 4) throw new RangeError("no index of a known version");
  return version;
}

function beginsWith(bytes: Uint8Array, beginning: Buffer): boolean {
  return bytes.length >= beginning.length && beginning.compare(bytes, 0, beginning.length) === 0;
}

/** Numbers of any length, seven bits a byte, as in packs. */
function readNumber(view: DataView, at: number): { readonly value: number; readonly end: number } {
  let byte = view.getUint8(at);
  let value = byte & 0x7f;
  let end = at + 1;
  for (; (byte & 0x80) !== 0; end++) {
    byte = view.getUint8(end);
    value = (value + 1) * 0x80 + (byte & 0x7f);
  }
  return { value, end };
}

/** An index can continue in another file, or leave out folders that are not checked out. */
function readExtensions(view: DataView, from: number, hashBytes: number): Pick<GitLinks, "unknown"> {
  const end = view.byteLength - hashBytes;
  for (let at = from; at + extensionHeader <= end; at += extensionHeader + view.getUint32(at + 4)) {
    const name = view.getUint32(at);
    if (name === 0x6c696e6b) return { unknown: "its index is split" };
    if (name === 0x73646972) return { unknown: "its index leaves folders out" };
  }
  return {};
}
