import { join } from "node:path";
import type { Host, ReadOptions } from "../host/host.ts";

/** A view of a host in which some files below a folder have other texts than on disk, or, with null, are not there. */
export function withFiles(host: Host, folder: string, texts: ReadonlyMap<string, string | null>): Host {
  if (texts.size === 0) return host;
  const { files } = host;
  const given = new Map([...texts].map(([path, text]) => [join(folder, path), text]));
  const kind: Host["files"]["kind"] = async (path) => (given.get(path) === null ? undefined : files.kind(path));
  const readText = async (path: string, options?: ReadOptions) => given.get(path) ?? files.readText(path, options);
  return { ...host, files: { ...files, kind, readText } };
}
