import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import type { Handed } from "./launch.ts";

/** Our ends of the pipes of `Launch.handed`. */
export interface HandedPipes {
  /** The pid of the process that `bwrap` started and watches, as it reports it. */
  reportedPid(): number | undefined;
  /** Resolves when `bwrap` reports the end; never without a status pipe. */
  readonly reportedEnd: Promise<void>;
  /** Returns whether the command itself may have begun: true from the start without a gate. */
  hasBegun(): boolean;
  /** Keeps the gate shut. */
  refuse(): void;
}

export function connectHanded(process: ChildProcess, handed: readonly Handed[]): HandedPipes {
  let status = "";
  let gate: Duplex | undefined;
  let isOpen = !handed.some(({ type }) => type === "gate");
  const { promise: reportedEnd, resolve: end } = Promise.withResolvers<void>();
  for (const [index, { type, ...one }] of handed.entries()) {
    const stream = process.stdio[index + 3] as Duplex | null | undefined;
    if (type === "descriptor" || stream === null || stream === undefined) continue;
    // A child that dies early reads nothing: its exit says what happened.
    stream.on("error", () => undefined);
    if ("bytes" in one) stream.end(one.bytes);
    else if (type === "status") {
      stream.on("data", (chunk: Buffer) => {
        status += chunk.toString();
        if (status.includes('"exit-code"')) end();
      });
    } else if (type === "gate") {
      gate = stream;
      gate.once("data", () => {
        isOpen = true;
        stream.end("go\n");
      });
    }
  }
  return {
    reportedPid: () => {
      const pid = /"child-pid": (\d+)/.exec(status)?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
    reportedEnd,
    hasBegun: () => isOpen,
    refuse: () => {
      gate?.destroy();
    },
  };
}
