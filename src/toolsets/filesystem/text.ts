import { sniffMediaType } from "../../host/files/media-type.ts";
import { ScopeError } from "../../host/scopes/scopes.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { toolFailure } from "../toolset.ts";

export interface FileText {
  readonly text: string;
  readonly hasMark: boolean;
}

const byteOrderMark = "\ufeff";

/** UTF-8, without its byte order mark. Rejects with `not_text`. */
export async function decodeText(bytes: Uint8Array, virtualPath: string): Promise<FileText> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(0) ? undefined : decodeOrNothing(bytes);
  if (text === undefined) {
    const mediaType = await sniffMediaType(bytes, virtualPath);
    throw new ScopeError("not_text", `"${virtualPath}" is not UTF-8 text (${mediaType}, ${bytes.length} bytes).`, {
      hint: "It can be passed to a worker as an attachment, by its path.",
      details: { media_type: mediaType, bytes: bytes.length },
    });
  }
  return text.startsWith(byteOrderMark) ? { text: text.slice(1), hasMark: true } : { text, hasMark: false };
}

function decodeOrNothing(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function encodeText(file: FileText): Uint8Array {
  return Buffer.from(wholeText(file));
}

/** With its byte order mark. */
export function wholeText({ text, hasMark }: FileText): string {
  return hasMark ? byteOrderMark + text : text;
}

/** Rejects text that cannot be written as it is shown. */
export function assertWellFormed(field: string, text: string): void {
  if (!text.isWellFormed()) throw toolFailure("invalid_arguments", `${field} holds half a character (a lone surrogate)`);
}

/** `\r\n` where every line of a file ends so, otherwise undefined. */
export function lineEndOf(text: string): "\r\n" | undefined {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text) ? "\r\n" : undefined;
}

export function withLineEnds(text: string, lineEnd: "\r\n" | undefined): string {
  return lineEnd === undefined ? text : text.replace(/\r?\n/g, lineEnd);
}

/** Cuts where no surrogate pair is parted: a position inside one moves to its beginning. */
export function wholeCharacterAt(text: string, position: number): number {
  const isInside = position > 0 && (text.codePointAt(position - 1) ?? 0) > 0xffff;
  return isInside ? position - 1 : position;
}

/** `1 character`, `1,200 characters`. */
export function countCharacters(text: string): string {
  return `${formatCount(text.length)} ${text.length === 1 ? "character" : "characters"}`;
}
