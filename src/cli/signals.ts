import { exitCodeOfSignal, exitCodes } from "./exit-codes.ts";
import { sameKeyPressMilliseconds } from "./watchdog-protocol.ts";

export interface SignalListener {
  /** As if Ctrl-C had been pressed: a terminal in raw mode sends no signal. */
  readonly interrupt: () => void;
  /** From now on Ctrl-C is another program's, which runs on the terminal. Gives what ends that. */
  readonly ignoreInterrupts: () => () => void;
  /** From now on Ctrl-C calls this; `interrupt` alone stops the run. Returns what ends that. */
  readonly redirect: (onInterrupt: () => void) => () => void;
  close(): void;
}

/** The first signal stops the run in good order; a second Ctrl-C ends the process at once. */
export function listenForSignals(onSignal: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void): SignalListener {
  let last: number | undefined;
  let isIgnoring = false;
  let ignoredUntil = Number.NEGATIVE_INFINITY;
  const interrupt = () => {
    if (isIgnoring || performance.now() < ignoredUntil) return;
    const before = last;
    last = performance.now();
    if (before !== undefined && last - before < sameKeyPressMilliseconds) return;
    if (before !== undefined) process.exit(exitCodes.interrupted);
    process.stderr.write("\nllm-do: stopping; press Ctrl-C again to end at once\n");
    onSignal("SIGINT");
  };
  let ended: number | undefined;
  const end = (signal: "SIGTERM" | "SIGHUP") => () => {
    const now = performance.now();
    // A terminal that closes sends SIGHUP to the session and to the job.
    if (ended !== undefined && now - ended < sameKeyPressMilliseconds) return;
    if (ended !== undefined) process.exit(exitCodeOfSignal(signal));
    ended = now;
    onSignal(signal);
  };
  let redirected: (() => void) | undefined;
  let lastPress = Number.NEGATIVE_INFINITY;
  const press = () => {
    if (!redirected) return interrupt();
    const now = performance.now();
    if (isIgnoring || now < ignoredUntil || now - lastPress < sameKeyPressMilliseconds) return;
    lastPress = now;
    redirected();
  };
  const listeners = { SIGINT: press, SIGTERM: end("SIGTERM"), SIGHUP: end("SIGHUP") };
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  return {
    interrupt,
    ignoreInterrupts: () => {
      isIgnoring = true;
      return () => {
        isIgnoring = false;
        ignoredUntil = performance.now() + sameKeyPressMilliseconds;
      };
    },
    redirect: (onInterrupt) => {
      redirected = onInterrupt;
      return () => {
        redirected = undefined;
      };
    },
    close: () => {
      for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener);
    },
  };
}
