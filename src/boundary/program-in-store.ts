import { join } from "node:path";
import { manifestName } from "../compile/load-manifest.ts";
import type { Host } from "../host/host.ts";
import type { ProgramOfRun, RunStore } from "../journal/stores/store.ts";

/** The program of a folder as a store knows it: the user's own store goes by the folder, others by the manifest's name. */
export async function programInStore(host: Host, { isOwn }: Pick<RunStore, "isOwn">, folder: string): Promise<ProgramOfRun> {
  const root = await host.files.realPath(folder).catch(() => folder);
  if (isOwn) return { root };
  const { parseManifest } = await import("../language/manifest.ts");
  const text = await host.files.readText(join(root, manifestName), { within: root }).catch(() => "");
  const name = parseManifest({ name: manifestName, text }).file.name?.value;
  return { root, ...(name === undefined ? {} : { name }) };
}
