import type { Host } from "../host/host.ts";

/** Removes a last line that was cut off, as by a kill, so that the file can be appended to. */
export async function cutTail({ files }: Pick<Host, "files">, path: string): Promise<void> {
  const text = await files.readText(path, { maxBytes: 200_000_000 });
  if (!text.endsWith("\n")) await files.writeAtomically(path, text.slice(0, text.lastIndexOf("\n") + 1), 0o600);
}
