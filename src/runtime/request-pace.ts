/** Stands before the model requests of several runs: an account of dollars for all of them, and waits that a provider asked one of them for. */
export interface RequestPace {
  /**
   * Called before a request goes out. Undefined where it may at once. Throws or rejects with a `LimitReached` where the account is used up,
   * and with the signal's reason.
   */
  admit(signal: AbortSignal): Promise<void> | undefined;
  /** Charges a request that came back. */
  spend(usd: number): void;
  /** Delays the requests of all runs, because the provider refused one of them for a time. */
  delay(milliseconds: number): void;
}
