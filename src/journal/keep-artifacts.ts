import { join } from "node:path";
import type { Host } from "../host/host.ts";
import type { Artifact } from "../protocol/message.ts";

/**
 * Writes the files of a run into its folder, readable by the user alone, and says where each is. What cannot be written has no
 * path: the run is not lost for it.
 */
export async function keepArtifacts(host: Host, directory: string, artifacts: readonly Artifact[]): Promise<Artifact[]> {
  const folder = join(directory, "artifacts");
  const kept: Artifact[] = [];
  for (const artifact of artifacts) {
    const path = join(folder, artifact.name);
    try {
      await host.files.makeDirectory(folder, 0o700);
      await host.files.writeAtomically(path, Buffer.from(artifact.data, "base64"), 0o600);
      kept.push({ ...artifact, path });
    } catch {
      kept.push(artifact);
    }
  }
  return kept;
}
