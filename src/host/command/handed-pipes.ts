import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import type { Handed } from "./launch.ts";

/** Our ends of what a child was handed. */
export interface HandedPipes {
  /** The process that `bwrap` started and watches, as it said. */
  toldPid(): number | undefined;
  /** Resolves when `bwrap` says that it has ended; never, where nobody says so. */
  readonly toldEnd: Promise<void>;
  /** Whether the command itself may have begun: from the start, where there is no gate. */
  hasBegun(): boolean;
  /** Leaves the gate shut for ever. */
  refuse(): void;
}

export function connectHanded(process: ChildProcess, handed: readonly Handed[]): HandedPipes {
  let status = "";
  let gate: Duplex | undefined;
  let isOpen = !handed.some(({ type }) => type === "gate");
  const { promise: toldEnd, resolve: end } = Promise.withResolvers<void>();
  for (const [index, { type, ...one }] of handed.entries()) {
    const stream = process.stdio[index + 3] as Duplex | null | undefined;
    if (type === "descriptor" || stream === null || stream === undefined) continue;
    // A child that dies early reads nothing: how it ended says what happened.
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
    toldPid: () => {
      const pid = /"child-pid": (\d+)/.exec(status)?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
    toldEnd,
    hasBegun: () => isOpen,
    refuse: () => {
      gate?.destroy();
    },
  };
}
