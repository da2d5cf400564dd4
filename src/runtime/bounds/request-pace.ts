/** The dollars that several runs share are used up: nothing that this run still needs can be asked for now. */
export class AccountUsedUp extends Error {
  constructor(usd: number) {
    super(`the $${usd} for all rows are used up`);
    this.name = "AccountUsedUp";
  }
}

/** Stands before the model requests of several runs: an account of dollars for all of them, and waits that a provider asked one of them for. */
export interface RequestPace {
  /**
   * Called before a request goes out. Undefined if it may at once. Throws or rejects with an `AccountUsedUp`, and with the signal's reason.
   */
  admit(signal: AbortSignal): Promise<void> | undefined;
  /** Charges a request that came back. */
  spend(usd: number): void;
  /** Delays the requests of all runs, because the provider refused one of them for a time. */
  delay(milliseconds: number): void;
}
