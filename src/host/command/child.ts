import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { constants as systemConstants } from "node:os";
import type { Duplex, Readable } from "node:stream";
import { errorCode } from "../files/system-error.ts";
import { toPathText } from "../files/system-path.ts";
import { watchEnd } from "./guardian.ts";
import type { Handed, Launch, ProcessLimits } from "./launch.ts";
import { OutputEnds } from "./output-ends.ts";
import { closePipe, type OutputPipe } from "./output-pipe.ts";

/** A child in a process group of its own, its output collected from the first byte on. */
export interface Child {
  readonly stdout: OutputEnds;
  readonly stderr: OutputEnds;
  /** Returns whether the command itself may have begun. */
  hasBegun(): boolean;
  /** Keeps the gate shut: the command never begins, and the child ends by itself. */
  refuse(): void;
  /** Settles when the command has ended, even if a process that it left still has its pipes open. */
  readonly ended: Promise<unknown>;
  /** Never rejects. */
  readonly exited: Promise<Exit>;
  /** Settles when all pipes are closed as well. */
  readonly closed: Promise<void>;
  /** Signals all processes of the group: that of the watched process, or its own. Does nothing if there are none. */
  signal(name: NodeJS.Signals): void;
  /** The pid that bwrap reports. bwrap can exit before that process, with which all others in the wall end. */
  watched(): number | undefined;
  /** Kills the process and closes the pipes. */
  abandon(): void;
}

export interface Exit {
  readonly exitCode: number;
  /** The system's code where it could not be started. */
  readonly failure?: string;
}

/** Throws what the system says at once, such as `E2BIG`; what it says later is in `exited`. */
export function startChild(
  launch: Launch,
  { maxOutputBytes, converse }: Pick<ProcessLimits, "maxOutputBytes" | "converse">,
): Child {
  const stdout = new OutputEnds(maxOutputBytes);
  const stderr = new OutputEnds(maxOutputBytes);
  const process = spawnLaunch(launch, converse ? "pipe" : "ignore");
  const unwatch = launch.isGuarded && process.pid !== undefined ? watchEnd(process.pid) : () => undefined;
  const output = openOutput(process, launch.output);
  let listen = (chunk: Uint8Array): void => stdout.add(chunk);
  output.stdout?.on("data", (chunk: Buffer) => listen(chunk));
  output.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  // The process may be gone by the time of a write: its exit says so.
  process.stdin?.on("error", () => undefined);
  const begin = () => {
    if (converse) listen = converse((text) => void process.stdin?.write(text));
  };
  const pipes = connectHanded(process, launch.handed, begin);
  const exited = new Promise<Exit>((resolve) => {
    process.once("exit", (code, signal) => {
      unwatch();
      resolve({ exitCode: code ?? 128 + (signal === null ? 0 : systemConstants.signals[signal]) });
    });
    process.once("error", (error) => {
      const { message, ...exit } = describeFailure(error);
      stderr.add(Buffer.from(message));
      resolve(exit);
    });
  });
  const closed = new Promise<void>((resolve) => {
    process.once("close", () => resolve());
    // A process that never started emits no `close`.
    process.once("error", () => resolve());
  });
  return {
    stdout,
    stderr,
    hasBegun: pipes.hasBegun,
    refuse: pipes.refuse,
    ended: Promise.race([exited, pipes.reportedEnd]),
    exited,
    closed: Promise.all([closed, output.closed]).then(() => undefined),
    signal: (name) => signalGroup(pipes.reportedPid() ?? process.pid, name),
    watched: pipes.reportedPid,
    abandon: () => {
      process.kill("SIGKILL");
      for (const stream of [...process.stdio, output.stdout, output.stderr]) stream?.destroy();
    },
  };
}

interface Output {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Settles when pipes of our own are closed. */
  readonly closed: Promise<unknown>;
}

function openOutput(process: ChildProcess, pipes: Launch["output"]): Output {
  if (pipes === undefined) return { stdout: process.stdout, stderr: process.stderr, closed: Promise.resolve() };
  const [stdout, stderr] = pipes.map(readPipe) as [Socket, Socket];
  const closed = [stdout, stderr].map((one) => new Promise((resolve) => one.once("close", resolve)));
  return { stdout, stderr, closed: Promise.all(closed) };
}

/** The child has the other end by now. */
function readPipe({ reader, writer, giveBack, drop }: OutputPipe): Socket {
  closeSync(writer);
  const socket = new Socket({ fd: reader, readable: true, writable: false });
  socket.on("error", () => undefined).once("close", () => (socket.readableEnded ? giveBack() : drop()));
  return socket;
}

/** Connects our ends of the pipes of `Launch.handed`. */
function connectHanded(process: ChildProcess, handed: readonly Handed[], begin: () => void) {
  let status = "";
  let gate: Duplex | undefined;
  let isOpen = !handed.some(({ type }) => type === "gate");
  if (isOpen) process.once("spawn", begin);
  const { promise: reportedEnd, resolve: end } = Promise.withResolvers<void>();
  for (const [index, { type, ...one }] of handed.entries()) {
    const stream = process.stdio[index + 3] as Duplex | null | undefined;
    if (type === "descriptor" || type === "file" || stream === null || stream === undefined) continue;
    // A child that dies early reads nothing: its exit says what happened.
    stream.on("error", () => undefined);
    if ("bytes" in one) stream.end(one.bytes);
    else if (type === "status") {
      stream.on("data", (chunk: Buffer) => {
        status += chunk.toString();
        if (status.includes('"exit-code"')) end();
      });
    } else if ("accepts" in one) {
      gate = stream;
      listenAtGate(stream, one.accepts, () => {
        isOpen = true;
        begin();
      });
    }
  }
  return {
    /** The pid of the process that `bwrap` started and watches, as it reports it. */
    reportedPid: () => {
      const pid = /"child-pid": (\d+)/.exec(status)?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
    /** Resolves when `bwrap` reports the end; never without a status pipe. */
    reportedEnd,
    /** True from the start without a gate. */
    hasBegun: () => isOpen,
    refuse: () => {
      gate?.destroy();
    },
  };
}

const ready = Buffer.from("\nready\n");

function listenAtGate(gate: Duplex, accepts: (said: string) => boolean, open: () => void): void {
  const said: Buffer[] = [];
  gate.on("data", (chunk: Buffer) => {
    said.push(chunk);
    const bytes = Buffer.concat(said);
    if (!bytes.subarray(-ready.length).equals(ready)) return;
    if (!accepts(toPathText(bytes.subarray(0, -ready.length)))) gate.destroy();
    else {
      open();
      gate.end("go\n");
    }
  });
}

function spawnLaunch(launch: Launch, stdin: "ignore" | "pipe"): ChildProcess {
  const files: number[] = [];
  const toStdio = (one: Handed) => {
    if (one.type === "descriptor") return one.descriptor;
    if (one.type !== "file") return "pipe";
    const file = openFile(one.path);
    if (file !== undefined) files.push(file);
    return file ?? "ignore";
  };
  const [stdout, stderr] = launch.output ?? [];
  try {
    return spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: { ...launch.environment },
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [stdin, stdout?.writer ?? "pipe", stderr?.writer ?? "pipe", ...launch.handed.map(toStdio)],
    });
  } catch (error) {
    for (const pipe of launch.output ?? []) closePipe(pipe);
    throw error;
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Does not wait, should it be a pipe by now. */
function openFile(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

function signalGroup(leader: number | undefined, name: NodeJS.Signals): void {
  if (leader === undefined || leader <= 1) return;
  try {
    process.kill(process.platform === "win32" ? leader : -leader, name);
  } catch {
    // Nothing is left in the group.
  }
}

/** As a shell says it. `message` is for the command's stderr. */
export function describeFailure(error: unknown): Required<Exit> & { readonly message: string } {
  const code = errorCode(error) || String(error);
  const message = `llm-do: cannot be started: ${reasons[code] ?? code}\n`;
  return { exitCode: code === "ENOENT" ? 127 : 126, failure: code, message };
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
