import type { Clock } from "../host/host.ts";
import { AccountUsedUp, type RequestPace } from "../runtime/bounds/request-pace.ts";

/** Milliseconds between two requests that waited for the same moment: together they would be refused again. */
const stagger = 25;

/** Sums of dollars are not exact. */
const rounding = 1e-9;

export interface PaceOptions {
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  /** Dollars for all runs. Default: no account. */
  readonly usd?: number | undefined;
}

/** One account and one back-off for the requests of several runs. */
export class SharedPace implements RequestPace {
  readonly #options: PaceOptions;
  #spent = 0;
  /** When requests go out again, by the monotonic clock. */
  #until = 0;
  #waiting = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Requests that are under way when it is used up come back: the account is passed by these at most. */
  get isUsedUp(): boolean {
    const { usd } = this.#options;
    return usd !== undefined && this.#spent >= usd - rounding;
  }

  spend(usd: number): void {
    this.#spent += usd;
  }

  delay(milliseconds: number): void {
    this.#until = Math.max(this.#until, this.#options.clock.monotonic() + milliseconds);
  }

  admit(signal: AbortSignal): Promise<void> | undefined {
    this.#check();
    return this.#left() > 0 ? this.#wait(signal).then(() => this.#check()) : undefined;
  }

  #check(): void {
    if (this.isUsedUp) throw new AccountUsedUp(this.#options.usd ?? 0);
  }

  #left(): number {
    return this.#until - this.#options.clock.monotonic();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const turn = this.#waiting++;
    try {
      while (this.#left() > 0) await this.#options.clock.sleep(this.#left() + turn * stagger, signal);
    } finally {
      this.#waiting--;
    }
  }
}
