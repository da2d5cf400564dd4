import { closeSync, mkdirSync, openSync } from "node:fs";
import { layersFolder, settingsFolder } from "../own-files/private-folders.ts";
import type { Bubblewrap } from "./bubblewrap.ts";
import { findLayerPrograms } from "./layers.ts";
import type { Mount } from "./mount.ts";
import { runLayered } from "./run-bubblewrap.ts";
import { findSystemView, privateFolders } from "./system-view.ts";

/** Returns whether this machine mounts layers: an old kernel, or a container, may not let it. */
export async function tryLayers(
  bubblewrap: Bubblewrap,
  { shell, path, stateDirectory }: { shell: string; path: readonly string[]; stateDirectory: string },
): Promise<boolean> {
  const programs = findLayerPrograms(path);
  const place = layersFolder(stateDirectory);
  const folder = settingsFolder(stateDirectory);
  if (programs === undefined) return false;
  for (const one of [place, folder]) mkdirSync(one, { recursive: true, mode: 0o700 });
  const descriptor = openSync(folder, "r");
  try {
    const layer: Mount = { kind: "writable", path: folder, source: folder, descriptor, isLayer: true };
    const mounts = [...findSystemView().filter((mount) => !("copies" in mount)), ...privateFolders, layer];
    const argv = [shell, "-c", `echo > ${JSON.stringify(`${folder}/tried`)} && exit 42`];
    const environment = { PATH: "/usr/bin:/bin" };
    const command = {
      argv,
      environment,
      mounts,
      cwd: "/",
      cwdHandle: undefined,
      network: false,
      shell,
      gitConfiguration: undefined,
    };
    const limits = { timeoutMilliseconds: 10_000, maxOutputBytes: 4096, signal: new AbortController().signal };
    let written: readonly string[] = [];
    const onWritten = (paths: readonly string[]) => {
      written = paths;
    };
    const ended = await runLayered(bubblewrap, command, { limits, layering: { programs, place, isListed: true }, onWritten });
    return ended.exitCode === 42 && written.length === 1;
  } finally {
    closeSync(descriptor);
  }
}
