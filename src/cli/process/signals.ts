import { exitCodeOfSignal, exitCodes, Interrupted } from "../exit-codes.ts";
import { sameKeyPressMilliseconds } from "./watchdog-protocol.ts";

export interface SignalListener extends Disposable {
  /** Aborts with an `Interrupted` at the first signal. */
  readonly controller: AbortController;
  /** As if Ctrl-C had been pressed: a terminal in raw mode sends no signal. */
  readonly interrupt: () => void;
  /** From now on Ctrl-C is another program's, which runs on the terminal. Gives what ends that. */
  readonly ignoreInterrupts: () => () => void;
  /** From now on Ctrl-C calls this; `interrupt` alone stops the run. Returns what ends that. */
  readonly redirect: (onInterrupt: () => void) => () => void;
}

/** The first signal stops the run in good order; a second Ctrl-C ends the process at once. */
export function listenForSignals(): SignalListener {
  const controller = new AbortController();
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
    controller.abort(new Interrupted("SIGINT"));
  };
  const end = endBySignal(controller);
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
    controller,
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
    [Symbol.dispose]: () => {
      for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener);
    },
  };
}

/** Returns the listeners of the other signals: the first aborts, a later one ends the process at once. */
function endBySignal(controller: AbortController): (signal: "SIGTERM" | "SIGHUP") => () => void {
  let ended: number | undefined;
  return (signal) => () => {
    const now = performance.now();
    // A terminal that closes sends SIGHUP to the session and to the job.
    if (ended !== undefined && now - ended < sameKeyPressMilliseconds) return;
    if (ended !== undefined) process.exit(exitCodeOfSignal(signal));
    ended = now;
    controller.abort(new Interrupted(signal));
  };
}
