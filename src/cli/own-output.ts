import { spawn } from "node:child_process";
import { createWriteStream, fstatSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import { reserveStdout } from "./output.ts";

/** Set in the process that serves: its descriptor 3 is the stdout of the command. */
const servingVariable = "LLM_DO_SERVES";
/** Milliseconds that a client has to read the last messages. */
const longestFlush = 5000;

/**
 * Serves in a process of its own, whose stdout is stderr: what tools and the programs that they start write to descriptor 1 reaches no
 * client. Returns the exit code of that process; or, in it, what `serve` returns. `output` gets the protocol's messages.
 */
export async function serveOnOwnOutput(serve: (output: Writable) => Promise<number>): Promise<number> {
  if (process.env[servingVariable] !== undefined) {
    delete process.env[servingVariable];
    reserveStdout();
    const output = openOutput(3);
    const code = await serve(output);
    await flush(output);
    return code;
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

/** Opens a descriptor for writing. A pipe whose reader is slow takes what it can: a stream of a file would end with EAGAIN. */
function openOutput(fd: number): Writable {
  const stat = fstatSync(fd);
  const isPipe = stat.isFIFO() || stat.isSocket();
  return isPipe ? new Socket({ fd, readable: false, writable: true }) : createWriteStream("", { fd, autoClose: false });
}

/** Resolves when everything was handed to the system, or the reader is gone or too slow. */
function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.errored) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(resolve, longestFlush);
    const done = () => {
      clearTimeout(late);
      resolve();
    };
    output.once("error", done).once("close", done);
    if (output.writableFinished) done();
    else if (output.writableEnded) output.once("finish", done);
    else output.end(done);
  });
}
