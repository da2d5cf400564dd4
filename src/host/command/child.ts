import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { errorCode } from "../system-error.ts";
import type { Launch } from "./launch.ts";
import { OutputTail } from "./output-tail.ts";

/** A child in a process group of its own, its output collected from the first byte on. */
export interface Child {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  /** What came on the status pipe so far. */
  status(): string;
  /** Never rejects. */
  readonly exited: Promise<Exit>;
  /** When all its pipes are closed as well. */
  readonly closed: Promise<void>;
  /** To everything in its group; if it tells of a process that it watches, in that one's instead. Nothing there is fine. */
  signal(name: NodeJS.Signals): void;
  /** Reads no further, and waits for nothing any more. */
  abandon(): void;
}

export interface Exit {
  readonly exitCode: number;
  /** The system's code where it could not be started. */
  readonly failure?: string;
}

export function startChild(launch: Launch, maxOutputBytes: number): Child {
  const stdout = new OutputTail(maxOutputBytes);
  const stderr = new OutputTail(maxOutputBytes);
  const process = spawnOrError(launch);
  if (process instanceof Error) return createFailedChild(process, { stdout, stderr });
  process.stdout?.on("data", (chunk: Buffer) => stdout.add(chunk));
  process.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  const status = connectHanded(process, launch);
  const exited = new Promise<Exit>((resolve) => {
    process.once("exit", (code, signal) =>
      resolve({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }),
    );
    process.once("error", (error) => resolve(describeFailure(error, stderr)));
  });
  const closed = new Promise<void>((resolve) => {
    process.once("close", () => resolve());
    // One that never started closes nothing.
    process.once("error", () => resolve());
  });
  return {
    stdout,
    stderr,
    status: () => status.join(""),
    exited,
    closed,
    signal: (name) => signalGroup(toldPid(status.join("")) ?? process.pid, name),
    abandon: () => {
      process.kill("SIGKILL");
      for (const stream of process.stdio) stream?.destroy();
    },
  };
}

function spawnOrError(launch: Launch): ChildProcess | Error {
  try {
    return spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: { ...launch.environment },
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe", ...launch.handed.map((one) => (one.type === "descriptor" ? one.descriptor : "pipe"))],
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function connectHanded(process: ChildProcess, launch: Launch): readonly string[] {
  const status: string[] = [];
  for (const [index, handed] of launch.handed.entries()) {
    const stream = process.stdio[index + 3];
    if (handed.type === "descriptor" || stream === null || stream === undefined) continue;
    // A child that dies early reads nothing: how it ended says what happened.
    stream.on("error", () => undefined);
    if (handed.type === "bytes") (stream as Writable).end(handed.bytes);
    else (stream as Readable).on("data", (chunk: Buffer) => status.push(chunk.toString()));
  }
  return status;
}

function toldPid(status: string): number | undefined {
  const pid = /"child-pid": (\d+)/.exec(status)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

function signalGroup(leader: number | undefined, name: NodeJS.Signals): void {
  if (leader === undefined || leader <= 1) return;
  try {
    process.kill(process.platform === "win32" ? leader : -leader, name);
  } catch {
    // Nothing is left in the group.
  }
}

function createFailedChild(error: Error, tails: Pick<Child, "stdout" | "stderr">): Child {
  const exit = describeFailure(error, tails.stderr);
  return {
    ...tails,
    status: () => "",
    exited: Promise.resolve(exit),
    closed: Promise.resolve(),
    signal: () => {},
    abandon: () => {},
  };
}

/** As a shell says it. */
function describeFailure(error: Error, stderr: OutputTail): Exit {
  const code = errorCode(error) || error.name;
  stderr.add(Buffer.from(`llm-do: cannot be started: ${reasons[code] ?? code}\n`));
  return { exitCode: code === "ENOENT" ? 127 : 126, failure: code };
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "not found",
  EACCES: "permission denied",
  E2BIG: "argument list too long",
  ENOEXEC: "not an executable",
  EAGAIN: "too many processes",
  EMFILE: "too many open files",
  ENOMEM: "out of memory",
};
