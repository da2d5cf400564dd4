import { existsSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { createNodeHost } from "../host/node-host.ts";
import type { Artifact } from "../protocol/message.ts";
import { errorMessage } from "../util/error-message.ts";
import { escapeText } from "../util/escape-text.ts";
import { writeStderr } from "./output.ts";
import { isFolder } from "./result-file.ts";

/**
 * Delivers files where `-o` names a folder: the files that the run made go into its `artifacts/`, under names that are free there,
 * for a model chose them. One that cannot be written stays where the run has it, and stderr says so. Says of each where it is.
 */
export async function deliverArtifacts(artifacts: readonly Artifact[], given: string | undefined): Promise<readonly Artifact[]> {
  if (given === undefined || !isFolder(given) || artifacts.length === 0) return artifacts;
  const { files } = createNodeHost();
  const folder = join(resolve(given), "artifacts");
  const delivered: Artifact[] = [];
  for (const artifact of artifacts) {
    try {
      await files.makeOwnDirectory(resolve(given), ["artifacts"]);
      const path = freePath(folder, artifact.name);
      await files.writeAtomically(path, Buffer.from(artifact.data, "base64"));
      delivered.push({ ...artifact, path });
    } catch (thrown) {
      const why = escapeText(errorMessage(thrown), { keepBackslashes: true });
      writeStderr(`llm-do: -o ${given}: ${escapeText(artifact.name)} could not be written there: ${why}\n`);
      delivered.push(artifact);
    }
  }
  return delivered;
}

function freePath(folder: string, name: string): string {
  const suffix = extname(name);
  const stem = name.slice(0, name.length - suffix.length);
  let path = join(folder, name);
  for (let n = 2; existsSync(path); n++) path = join(folder, `${stem}-${n}${suffix}`);
  return path;
}
