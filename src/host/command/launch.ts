import type { CommandRequest } from "../commands.ts";
import type { OutputPipe } from "./output-pipe.ts";

/** A process to start. Nothing in it is looked up again. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Can lead through a descriptor of ours: the child changes to it before it executes. */
  readonly cwd: string;
  /** The child's descriptors from 3 on. */
  readonly handed: readonly Handed[];
  /** The child's stdout and stderr. Default: sockets. */
  readonly output?: readonly [OutputPipe, OutputPipe] | undefined;
  /**
   * Its group is ended when our process ends. It is watched before it gets what it reads from pipes, so that it cannot be further
   * than that when nothing watches it.
   */
  readonly isGuarded?: boolean;
}

export type Handed =
  /** An open descriptor of ours. */
  | { readonly type: "descriptor"; readonly descriptor: number }
  /** A file, opened to be read when the process starts; empty if it cannot be. */
  | { readonly type: "file"; readonly path: string }
  /** A pipe that gives these bytes, and ends. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  /** A pipe on which `bwrap` reports the pid and the exit code of the process that it started. */
  | { readonly type: "status" }
  /**
   * A two-way pipe: the child says something, which is accepted or not, and that it is `ready`. It goes on only when it reads `go`. Until then the end of one side ends both.
   * Without it, our death while bwrap is being set up would leave a command that nothing watches.
   */
  | { readonly type: "gate"; readonly accepts: (said: string) => boolean };

export type ProcessLimits = Pick<CommandRequest, "timeoutMilliseconds" | "maxOutputBytes" | "signal" | "converse">;

/** A process that has ended; nothing of it is left. */
export interface Ended {
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** The system's code if not even the first program could be started. */
  readonly failure: string | undefined;
  readonly stdout: { readonly text: string; readonly dropped: number };
  readonly stderr: { readonly text: string; readonly dropped: number };
  /** False: the gate was never opened, so nothing of the command itself has run. */
  readonly hasBegun: boolean;
}

/** The end of a command of which nothing was started. `message` goes to its stderr. */
export function neverStarted(message: string, exit: Pick<Ended, "exitCode" | "failure">): Ended {
  const [stdout, stderr] = ["", message].map((text) => ({ text, dropped: 0 })) as [Ended["stdout"], Ended["stderr"]];
  return { exitCode: exit.exitCode, failure: exit.failure, timedOut: false, aborted: false, stdout, stderr, hasBegun: false };
}
