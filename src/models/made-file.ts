import type { FilePart } from "../protocol/message.ts";
import { sha256 } from "../util/sha256.ts";

/** More than this of one file is not fetched, in bytes. */
const largestMadeFile = 100_000_000;

/** A file that a provider made. Of its name, the part after the last separator counts: it names no folder of ours. */
export function madeFile(name: string, mediaType: string | null | undefined, bytes: Uint8Array): FilePart {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return {
    type: "file",
    name: base.replace(/^\.+/, "") || "file",
    mediaType: mediaType?.split(";")[0]?.trim() || "application/octet-stream",
    bytes: bytes.length,
    sha256: sha256(bytes),
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64"),
  };
}

/** Reads a body to its end. Rejects where it holds more than `largestMadeFile`. */
export async function readMadeFile(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > largestMadeFile) throw new Error(`it has more than ${largestMadeFile} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
