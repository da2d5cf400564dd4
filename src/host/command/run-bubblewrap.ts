import { type Bubblewrap, toBubblewrapLaunch, type WalledCommand } from "./bubblewrap.ts";
import { startGuardian } from "./guardian.ts";
import type { Ended, ProcessLimits } from "./launch.ts";
import { takePipes } from "./output-pipe.ts";
import { runProcess } from "./run-process.ts";

/**
 * Runs a command in `bwrap`. Between two of its first steps bwrap has a child that waits for it and for nothing else: if bwrap ended
 * just then, as it does with its parent, that child would sleep for ever. So the guardian ends its group when our process ends.
 */
export async function runBubblewrap(bubblewrap: Bubblewrap, command: WalledCommand, limits: ProcessLimits): Promise<Ended> {
  startGuardian(command.shell);
  const launch = toBubblewrapLaunch(bubblewrap, command);
  return runProcess({ ...launch, isGuarded: true, output: await takePipes() }, limits);
}
