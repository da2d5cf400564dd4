import { join } from "node:path";
import { startGuardian } from "../command/guardian.ts";
import type { Ended, ProcessLimits } from "../command/launch.ts";
import { takePipes } from "../command/output-pipe.ts";
import { runProcess } from "../command/run-process.ts";
import type { EntryHandle } from "../files/directory.ts";
import { type Bubblewrap, toBubblewrapLaunch, type WalledCommand } from "./bubblewrap.ts";
import { addLayers, type Layering, layerFolder } from "./layers.ts";
import { isLayer, type Mount } from "./mount.ts";

interface Layered {
  readonly limits: ProcessLimits;
  readonly layering: Layering;
  /** Receives the host paths that the command wrote, where they are listed. */
  readonly onWritten: (paths: readonly string[]) => void;
}

/** Runs a command whose layers are mounted below `layering.place`. */
export async function runLayered(bubblewrap: Bubblewrap, command: WalledCommand, layered: Layered): Promise<Ended> {
  const { limits, layering, onWritten } = layered;
  const { place, isListed } = layering;
  startGuardian(command.shell);
  const mounts = command.mounts.filter(isLayer);
  const paths = mounts.map(({ path }) => path);
  const inner = toBubblewrapLaunch(bubblewrap, command, ({ path }) => layerFolder(place, paths.indexOf(path)));
  const layers = mounts.map((mount) => ({ path: mount.path, handle: handleOf(mount) }));
  const { launch, written } = addLayers(inner, layers, { ...layering, shell: command.shell });
  const ended = await runProcess({ ...launch, isGuarded: true, output: await takePipes() }, limits);
  if (isListed) onWritten(written().map(([index, path]) => join(paths[index] ?? "", path)));
  return ended;
}

function handleOf(mount: Mount): EntryHandle {
  const { path } = mount;
  const descriptor = "descriptor" in mount ? mount.descriptor : undefined;
  return { path, descriptor, close: async () => undefined };
}

/**
 * Runs a command in `bwrap`. Between two of its first steps bwrap has a child that waits for it and for nothing else: if bwrap ended
 * just then, as it does with its parent, that child would sleep for ever. So the guardian ends its group when our process ends.
 */
export async function runBubblewrap(bubblewrap: Bubblewrap, command: WalledCommand, limits: ProcessLimits): Promise<Ended> {
  startGuardian(command.shell);
  const launch = toBubblewrapLaunch(bubblewrap, command);
  return runProcess({ ...launch, isGuarded: true, output: await takePipes() }, limits);
}
