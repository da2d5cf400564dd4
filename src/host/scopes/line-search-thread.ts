import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { decodeText } from "../files/media-type.ts";
import { noFollow, readFlags } from "../files/read-flags.ts";
import type { FolderLines, FolderSearch, LineMatch } from "./line-search.ts";

/*
 * A thread of `line-search.ts`. It reads the files itself, one after the other: a file costs a few system calls, and no turn of an event
 * loop.
 */

const source = String(workerData);
const regex = new RegExp(source);
/** The text that an expression stands for, where it is one in ASCII: bytes that do not hold it need no decoding. */
const literal = /^(?:[^\\^$.*+?()[\]{}|\0-\x1f\x7f-\uffff]|\\[!-/:-@[-^`{-~])+$/.test(source)
  ? Buffer.from(source.replace(/\\(.)/g, "$1"))
  : undefined;
/**
 * Finds out at once that a whole text holds no match. Undefined if an expression could see beyond a line: what it looks at around a
 * match differs then, and a repetition could go on over all lines.
 */
const anyLine = /\\[sWDPnrxuc]|\[\^|\(\?(?!:)/.test(source) ? undefined : new RegExp(source, "m");
/** UTF-16 units: a longer line begins shortly before its match, and ends if no answer shows more. */
const longestLine = 300;
const unitsBefore = 100;
const mostOfLine = 1000;

let buffer = Buffer.alloc(65_536);

function search({ names, from, maxBytes, limit }: FolderSearch): FolderLines {
  const found: FolderLines[number][] = [];
  let room = limit;
  for (const [index, name] of names.entries()) {
    const bytes = typeof from === "string" ? readBytes(`${from}/${name}`, maxBytes) : Buffer.from(from[index] ?? []);
    const lines = bytes === undefined || bytes.length > maxBytes ? undefined : linesOf(bytes, room);
    if (lines?.length !== 0) found.push({ name, lines });
    room -= lines?.length ?? 0;
    if (room <= 0) break;
  }
  return found;
}

/** Undefined for a file that is gone or too large. */
function readBytes(path: string, maxBytes: number): Buffer | undefined {
  try {
    // The walk saw a regular file. Where links cannot be refused as it is opened, one could have taken its place.
    if (noFollow === 0 && !lstatSync(path).isFile()) return undefined;
    const descriptor = openSync(path, readFlags);
    try {
      const facts = fstatSync(descriptor);
      return facts.isFile() && facts.size <= maxBytes ? readAll(descriptor, facts.size, maxBytes) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** The bytes stand in a buffer that the next file uses again. */
function readAll(descriptor: number, expected: number, maxBytes: number): Buffer {
  let end = 0;
  for (;;) {
    if (end === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
    const read = readSync(descriptor, buffer, end, Math.min(buffer.length, maxBytes + 1) - end, null);
    end += read;
    if (read === 0 || end > maxBytes || (end === expected && end > 0)) return buffer.subarray(0, end);
  }
}

/** Undefined for what is not text. */
function linesOf(bytes: Buffer, limit: number): readonly LineMatch[] | undefined {
  if (literal && !bytes.includes(literal) && !bytes.includes(0) && isUtf8(bytes)) return [];
  const text = decodeText(bytes);
  return text === undefined ? undefined : findLines(text, limit);
}

function findLines(text: string, limit: number): readonly LineMatch[] {
  if (anyLine && !anyLine.test(text)) return [];
  const found: LineMatch[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const column = line.search(regex);
    if (column === -1) continue;
    const start = line.length > longestLine && column > longestLine / 2 ? column - unitsBefore : 0;
    found.push({ line: index + 1, column, text: line.slice(start, start + mostOfLine) });
    if (found.length >= limit) break;
  }
  return found;
}

parentPort?.on("message", (wanted: FolderSearch) => parentPort?.postMessage(search(wanted)));
