import { join } from "node:path";
import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Host } from "../host/host.ts";
import { type ManifestFile, parseManifest } from "../language/manifest.ts";
import type { LocatedProgram } from "./locate-target.ts";
import type { ProgramFiles } from "./program-files.ts";

export const manifestName = "llm-do.yaml";

export interface ManifestLoading {
  readonly host: Host;
  readonly files: ProgramFiles;
  readonly diagnostics: DiagnosticList;
}

/** Reads the program's `llm-do.yaml`, if it has one; in the form of listed files, if it is listed. */
export async function loadManifest(
  { root, listed }: LocatedProgram,
  { host, files, diagnostics }: ManifestLoading,
): Promise<ManifestFile | undefined> {
  const path = join(root, manifestName);
  const isThere = listed ? listed.includes(path) : (await host.files.kind(path)) !== undefined;
  const source = isThere ? await files.read(path, { home: { folder: root } }) : undefined;
  if (!source) return undefined;
  const { file, diagnostics: found } = parseManifest(source);
  diagnostics.addAll(found);
  return file;
}
