import { closeSync, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { FolderLines, FolderSearch, LineMatch } from "./line-search.ts";
import { decodeText } from "./media-type.ts";
import { noFollow, readFlags } from "./read-flags.ts";

/*
 * The thread of `line-search.ts`. It reads the files itself, one after the other: a file costs a few system calls, and no turn of an event
 * loop.
 */

const source = String(workerData);
const regex = new RegExp(source);
/**
 * Finds out at once that a whole text holds no match. Undefined where an expression could see beyond a line: what it looks at around a
 * match differs then, and a repetition could go on over all lines.
 */
const anyLine = /\\[sWDPnrxuc]|\[\^|\(\?(?!:)/.test(source) ? undefined : new RegExp(source, "m");
const longestLine = 100_000;

let buffer = Buffer.alloc(65_536);

function search({ names, from, maxBytes, limit }: FolderSearch): FolderLines {
  const matches: { name: string; line: LineMatch }[] = [];
  let skipped = 0;
  for (const [index, name] of names.entries()) {
    const text = typeof from === "string" ? readText(`${from}/${name}`, maxBytes) : textOf(from[index], maxBytes);
    if (text === undefined) skipped++;
    else for (const line of findLines(text, limit - matches.length)) matches.push({ name, line });
    if (matches.length >= limit) break;
  }
  return { matches, skipped };
}

/** Undefined for a file that is gone, too large or not text. */
function readText(path: string, maxBytes: number): string | undefined {
  try {
    // The walk saw a regular file. Where links cannot be refused as it is opened, one could have taken its place.
    if (noFollow === 0 && !lstatSync(path).isFile()) return undefined;
    const descriptor = openSync(path, readFlags);
    try {
      const facts = fstatSync(descriptor);
      return facts.isFile() && facts.size <= maxBytes ? textOf(readAll(descriptor, facts.size, maxBytes), maxBytes) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** The bytes stand in a buffer that the next file uses again. */
function readAll(descriptor: number, expected: number, maxBytes: number): Uint8Array {
  let end = 0;
  for (;;) {
    if (end === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
    const read = readSync(descriptor, buffer, end, Math.min(buffer.length, maxBytes + 1) - end, null);
    end += read;
    if (read === 0 || end > maxBytes || (end === expected && end > 0)) return buffer.subarray(0, end);
  }
}

function textOf(bytes: Uint8Array | undefined, maxBytes: number): string | undefined {
  return bytes === undefined || bytes.length > maxBytes ? undefined : decodeText(bytes);
}

function findLines(text: string, limit: number): readonly LineMatch[] {
  if (anyLine && !anyLine.test(text)) return [];
  const found: LineMatch[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const column = line.search(regex);
    if (column === -1) continue;
    found.push({ line: index + 1, column, text: line.slice(0, longestLine) });
    if (found.length >= limit) break;
  }
  return found;
}

parentPort?.on("message", (wanted: FolderSearch) => parentPort?.postMessage(search(wanted)));
