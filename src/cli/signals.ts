import { exitCodes } from "./exit-codes.ts";

export interface SignalListener {
  /** As if Ctrl-C had been pressed: a terminal in raw mode sends no signal. */
  readonly interrupt: () => void;
  close(): void;
}

/** The first signal stops the run in good order; a second Ctrl-C ends the process at once. */
export function listenForSignals(onSignal: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void): SignalListener {
  let interrupts = 0;
  const interrupt = () => {
    if (++interrupts > 1) process.exit(exitCodes.interrupted);
    process.stderr.write("\nllm-do: stopping; press Ctrl-C again to end at once\n");
    onSignal("SIGINT");
  };
  const terminate = () => onSignal("SIGTERM");
  const hangUp = () => onSignal("SIGHUP");
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", terminate);
  process.on("SIGHUP", hangUp);
  return {
    interrupt,
    close: () => {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", terminate);
      process.off("SIGHUP", hangUp);
    },
  };
}
