import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import { reserveStdout } from "./output.ts";

/** Set in the process that serves: its descriptor 3 is the stdout of the command. */
const servingVariable = "LLM_DO_SERVES";

/**
 * Serves in a process of its own, whose stdout is stderr: what tools and the programs that they start write to descriptor 1 reaches no
 * client. Returns the exit code of that process; or, in it, what `serve` returns. `output` gets the protocol's messages.
 */
export async function serveOnOwnOutput(serve: (output: Writable) => Promise<number>): Promise<number> {
  if (process.env[servingVariable] !== undefined) {
    delete process.env[servingVariable];
    reserveStdout();
    return serve(createWriteStream("", { fd: 3, autoClose: false }));
  }
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ["inherit", 2, "inherit", 1],
    env: { ...process.env, [servingVariable]: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
