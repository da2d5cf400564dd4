import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { AssistantMessage, FilePart, ServerResultPart } from "../../protocol/message.ts";
import { sha256 } from "../../util/sha256.ts";

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

/** Reads a body to its end. Rejects if it holds more than `largestMadeFile`. */
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

const prefixes: readonly (readonly [string, string])[] = [
  ["/9j/", "jpeg"],
  ["UklGR", "webp"],
];

/** Takes the picture out of a provider's result: it becomes a file, and the result holds its name in place of the bytes. */
export function takeImage(part: ServerResultPart): readonly [ServerResultPart, FilePart] | undefined {
  const data = part.name === "image_generation" && isRecord(part.value) ? part.value["result"] : undefined;
  if (typeof data !== "string" || data === "") return undefined;
  const kind = prefixes.find(([prefix]) => data.startsWith(prefix))?.[1] ?? "png";
  const name = `${part.id.replace(/[^\w-]/g, "_").slice(0, 80)}.${kind}`;
  return [{ ...part, value: { file: name } }, madeFile(name, `image/${kind}`, Buffer.from(data, "base64"))];
}

/** Returns the result as the provider gave it. */
export function giveImageBack(part: ServerResultPart, { parts }: AssistantMessage): JsonValue {
  const name = part.name === "image_generation" && isRecord(part.value) ? part.value["file"] : undefined;
  const file = parts.find((other) => other.type === "file" && other.name === name);
  return file?.type === "file" ? { result: file.data } : part.value;
}
