import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, fstatSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { boundLines } from "../../doors/bound-lines.ts";
import { reserveStdout, writeStderr } from "../output.ts";

/** Set in the process that serves: its descriptors 3 and 4 are the stdout and the stdin of the command. */
const servingVariable = "LLM_DO_SERVES";
/** Milliseconds that a client has to read the last messages. */
const longestFlush = 5000;

/** The messages of a protocol. */
export interface OwnStreams {
  /** Whole lines. */
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
}

/**
 * Serves in a process of its own, whose stdout is stderr and whose stdin is empty: tools and the programs that they start reach neither
 * what a client sends nor what it reads. Returns the exit code of that process; or, in it, what `serve` returns.
 */
export async function serveOnOwnOutput(serve: (streams: OwnStreams) => Promise<number>): Promise<number> {
  if (process.env[servingVariable] !== undefined) {
    delete process.env[servingVariable];
    reserveStdout();
    const output = openOutput(3);
    const input = openInput(4);
    const lines = boundLines(input, {
      answer: (line) => void output.write(line),
      onNote: (note) => writeStderr(`llm-do: ${note}\n`),
    });
    const code = await serve({ input: lines, output });
    input.destroy();
    await flush(output);
    return code;
  }
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ["ignore", 2, "inherit", 1, 0],
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
  return isPipe(fd) ? new Socket({ fd, readable: false, writable: true }) : createWriteStream("", { fd, autoClose: false });
}

function openInput(fd: number): Readable {
  if (isatty(fd)) return new ReadStream(fd);
  return isPipe(fd) ? new Socket({ fd, readable: true, writable: false }) : createReadStream("", { fd, autoClose: false });
}

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
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
