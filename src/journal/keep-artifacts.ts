import { join } from "node:path";
import type { Host } from "../host/host.ts";
import type { Artifact } from "../protocol/message.ts";

/** Writes the files of a run into its folder, readable by the user alone, and says where each is. */
export async function keepArtifacts(host: Host, directory: string, artifacts: readonly Artifact[]): Promise<Artifact[]> {
  const folder = join(directory, "artifacts");
  if (artifacts.length > 0) await host.files.makeDirectory(folder, 0o700);
  const kept: Artifact[] = [];
  for (const artifact of artifacts) {
    const path = join(folder, artifact.name);
    await host.files.writeAtomically(path, Buffer.from(artifact.data, "base64"), 0o600);
    kept.push({ ...artifact, path });
  }
  return kept;
}
