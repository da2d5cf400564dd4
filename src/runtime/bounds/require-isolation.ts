import type { Host } from "../../host/host.ts";
import type { Program } from "../../program/program.ts";
import { runsPrograms } from "../../program/runs-programs.ts";
import { RunError } from "../run-error.ts";

/** Rejects with `configuration` if a worker of the program runs programs, wants them isolated, and the machine cannot. */
export async function requireIsolation({ workers }: Program, { commands }: Pick<Host, "commands">): Promise<void> {
  const demanding = [...workers.values()].filter((worker) => worker.commands.isolationRequired && runsPrograms(worker));
  if (demanding.length === 0) return;
  const isolation = await commands.isolation();
  if (isolation.type !== "none") return;
  const names = demanding.map(({ name }) => `\`${name}\``).join(", ");
  throw new RunError(
    "configuration",
    `${names} may run programs only where they can be isolated (\`sandbox.required\`), and here they cannot: ${isolation.why}`,
  );
}
