import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

import { seed } from "./seeded.ts";

export { canary } from "./command-bench.ts";

/** One of the fixtures, once it says that it is ready. */
export async function start(script: string, ...args: string[]): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "fixtures", script), [...args, seed], { execArgv: [], silent: true });
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error(`${script} did not start`)));
  });
  return child;
}
