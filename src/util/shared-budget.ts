/**
 * Dollars for many runs together. Each run gets a share of what is left as its own limit, so that runs side by side cannot
 * spend more than there is.
 */
export class SharedBudget {
  #left: number | undefined;
  #running = 0;
  readonly #parallel: number;

  /** `usd`: undefined for no limit. `parallel`: the most runs at the same time. */
  constructor(usd: number | undefined, parallel: number) {
    this.#left = usd;
    this.#parallel = parallel;
  }

  /** The limit of a run that begins now; undefined for none. */
  take(): number | undefined | "spent" {
    if (this.#left === undefined) return undefined;
    if (this.#left <= 0) return "spent";
    const share = this.#left / Math.max(1, this.#parallel - this.#running);
    this.#left -= share;
    this.#running++;
    return share;
  }

  /** Gives back what a run left of its share. */
  settle(share: number | undefined, spent = 0): void {
    if (this.#left === undefined || share === undefined) return;
    this.#left += share - spent;
    this.#running--;
  }
}
