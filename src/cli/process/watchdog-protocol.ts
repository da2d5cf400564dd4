/** A terminal sends Ctrl-C to every process of its job, and `bin/llm-do.js` passes on what it gets: two so close are one key press. */
export const sameKeyPressMilliseconds = 100;

/** Emitted on the main thread's `process`, with the exit code, where the watchdog ends the process. */
export const endEvent = "llm-do:end";

/** Data that the thread is started with: exit codes, and whether a person can press keys. */
export interface WatchdogData {
  readonly hasTerminal: boolean;
  readonly interrupted: number;
  readonly terminated: number;
  readonly hungUp: number;
  readonly limit: number;
}

export type ToMainThread = "listening" | { readonly ping: number };

export type ToWatchdog =
  | { readonly pong: number }
  /** The limit, and what is left of it. */
  | { readonly seconds: number; readonly milliseconds: number }
  | { readonly seconds: undefined };
