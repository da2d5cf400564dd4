import { basename } from "node:path";
import type { Host } from "../../host/host.ts";
import type { FilePart } from "../../protocol/message.ts";
import { type FileSize, toFilePart } from "../../toolsets/attachments.ts";

/** A file of the user, by its path or its content. */
export type FileSource = { readonly path: string } | { readonly name: string; readonly bytes: Uint8Array };

export async function readFiles(host: Host, sources: readonly FileSource[]): Promise<FilePart[]> {
  const files: FilePart[] = [];
  for (const source of sources) {
    if ("path" in source) files.push(await toFilePart(basename(source.path), await host.files.readBytes(source.path)));
    else files.push(await toFilePart(source.name, source.bytes));
  }
  return files;
}

export async function sizeOf({ files }: Host, source: FileSource): Promise<FileSize> {
  if (!("path" in source)) return { name: source.name, bytes: source.bytes.length };
  return { name: basename(source.path), bytes: (await files.readEnds(source.path, { bytes: 0 })).bytes };
}
