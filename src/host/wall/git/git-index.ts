import { join } from "node:path";
import { isSettled, statOf, versionOf } from "../../command/look.ts";
import { dependencyFolders } from "../../command/program-folders.ts";
import { toPathText } from "../../files/system-path.ts";
import { foldName } from "../../scopes/protected-names.ts";
import { readSmall } from "./git-repositories.ts";
import { readSettings } from "./git-settings.ts";

/** Size of the facts of an entry: times, device, inode, mode, owner and size. */
const statBytes = 40;
const modeOffset = 24;
const folder = 0o040000;
const formatMask = 0o170000;
const hasMoreFlags = 0x4000;
/** Size of the head of an extension: its name and its length. */
const extensionHeader = 8;

/** The part of the flags that is the length of a path, or this number where it is longer. */
const nameMask = 0xfff;
const gitlink = 0o160000;

/**
 * Returns the paths in an index, from the top of the work tree, as git's own documentation describes the format (`gitformat-index(5)`,
 * versions 2 to 4). `hashBytes`: 20, or 32 in a repository of SHA-256. Undefined if not all of them are in it: it is split, leaves
 * folders out, or cannot be read.
 */
export function readIndexPaths(index: Buffer, hashBytes: number): readonly string[] | undefined {
  const read = readIndex(index, hashBytes);
  return read?.isWhole ? read.entries.map(({ path }) => path) : undefined;
}

/** Bytes. A larger one is taken for one that cannot be read. */
const maxBytes = 1_000_000_000;

/** Answers about indexes, by their paths. */
const judged = new Map<string, { readonly version: string; readonly leads: boolean }>();
const mostJudged = 200;

/** As `leadsElsewhere`, of a file that is read if it is not known yet. `common`: the folder that holds the repository's objects. */
export function isForeignIndex(file: string, common: string): boolean {
  const stats = statOf(file);
  if (stats === undefined) return false;
  const version = versionOf(stats);
  const known = judged.get(file);
  if (known?.version === version) return known.leads;
  const index = readSmall(file, maxBytes);
  const leads = index === undefined || leadsElsewhere(index, hashBytesOf(common));
  if (judged.size >= mostJudged) judged.clear();
  if (isSettled(stats)) judged.set(file, { version, leads });
  return leads;
}

/**
 * Returns whether git would write elsewhere by an index, or run what a package names: it holds a path that git itself refuses to add
 * (`.git` or `..` in it, or absolute) or a repository in a folder of dependencies, or it cannot be read. Git reads such an index as it is.
 */
function leadsElsewhere(index: Buffer, hashBytes: number): boolean {
  const read = readIndex(index, hashBytes);
  return read === undefined || read.entries.some(isForeign);
}

function isForeign({ path, format }: IndexEntry): boolean {
  if (path.startsWith("/")) return true;
  const names = path.split("/");
  if (names.some((name) => name === ".." || foldName(name) === ".git")) return true;
  return format === gitlink && names.some((name) => dependencyFolders.has(name));
}

interface IndexEntry {
  readonly path: string;
  /** The type of the entry, as in modes of files. */
  readonly format: number;
  /** Its offset in the file. */
  readonly start: number;
  /** Bytes that its path has from the one before. */
  readonly kept: number;
}

interface IndexRead {
  readonly entries: readonly IndexEntry[];
  /** All paths are among the entries. */
  readonly isWhole: boolean;
}

function readIndex(index: Buffer, hashBytes: number): IndexRead | undefined {
  try {
    return readEntries(index, hashBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readEntries(index: Buffer, hashBytes: number): IndexRead | undefined {
  const version = index.readUInt32BE(4);
  if (index.readUInt32BE(0) !== 0x44495243 || version < 2 || version > 4) return undefined;
  const entries: IndexEntry[] = [];
  let at = 12;
  let path: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const format = index.readUInt32BE(at + modeOffset) & formatMask;
    at += statBytes + hashBytes;
    const flags = index.readUInt16BE(at);
    at += version > 2 && (flags & hasMoreFlags) !== 0 ? 4 : 2;
    // Version 4 names the end of a path alone: how much of the path before is dropped stands in front of it.
    const dropped = version === 4 ? readNumber(index, at) : { value: path.length, end: at };
    const end = index.indexOf(0, dropped.end);
    const kept = path.length - dropped.value;
    if (kept < 0 || end === -1) return undefined;
    path = Buffer.concat([path.subarray(0, kept), index.subarray(dropped.end, end)]);
    // Git goes by the length, and not by the end of the text.
    if ((flags & nameMask) !== Math.min(path.length, nameMask)) return undefined;
    entries.push({ path: toPathText(path), format, start, kept });
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  const isWhole = readExtensions(index, { from: at, hashBytes, entries });
  return isWhole === undefined ? undefined : { entries, isWhole: isWhole && entries.every(({ format }) => format !== folder) };
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

interface Extensions {
  readonly from: number;
  readonly hashBytes: number;
  readonly entries: readonly IndexEntry[];
}

/**
 * An index can continue in another file, or leave out folders that are not checked out: an extension says so, and this is false then.
 * Undefined where others lead git to entries that are none of these.
 */
function readExtensions(index: Buffer, { from, hashBytes, entries }: Extensions): boolean | undefined {
  const end = index.length - hashBytes;
  const last = end - extensionHeader - 4 - hashBytes;
  if (last >= from && nameAt(index, last) === "EOIE" && index.readUInt32BE(last + extensionHeader) !== from) return undefined;
  let isWhole = true;
  for (let at = from; at + extensionHeader <= end; at += extensionHeader + index.readUInt32BE(at + 4)) {
    const name = nameAt(index, at);
    if (name === "link" || name === "sdir") isWhole = false;
    const content = at + extensionHeader;
    if (name === "IEOT" && !agrees(index.subarray(content, content + index.readUInt32BE(at + 4)), entries)) return undefined;
  }
  return isWhole;
}

function nameAt(index: Buffer, at: number): string {
  return index.toString("latin1", at, at + 4);
}

/** Returns whether the blocks of entries, which git reads at the same time, are those that follow each other. */
function agrees(blocks: Buffer, entries: readonly IndexEntry[]): boolean {
  let count = 0;
  for (let at = 4; at < blocks.length; at += 8) {
    const first = entries[count];
    if (first?.start !== blocks.readUInt32BE(at) || (first.kept !== 0 && count > 0)) return false;
    count += blocks.readUInt32BE(at + 4);
  }
  return count === entries.length;
}

/** Bytes of the names of objects in a repository. `common`: the folder that holds them. */
export function hashBytesOf(common: string): number {
  const settings = readSettings(join(common, "config")) ?? [];
  const format = settings.findLast(({ section, key }) => section === "extensions" && key === "objectformat")?.value;
  return format?.toLowerCase() === "sha256" ? 32 : 20;
}
