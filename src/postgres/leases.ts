import type { Clock } from "../host/host.ts";
import { JournalError } from "../journal/journal.ts";
import type { Client } from "./database.ts";

/** Milliseconds for which a lease holds, and between two renewals. */
const leaseMilliseconds = 15_000;
export const renewalMilliseconds = 4000;

export interface HeldLease {
  readonly run: string;
  readonly epoch: number;
}

/** Renews leases. */
export interface Renewer {
  /** Resolves with the runs whose leases hold. */
  renew(leases: readonly HeldLease[]): Promise<ReadonlySet<string>>;
  /** Renews these from now on, without being asked. */
  hold?(leases: readonly HeldLease[]): void;
}

/** Renews leases in one statement, but none that was given back meanwhile. Resolves with the runs whose leases hold. */
export async function renewLeases(client: Client, leases: readonly HeldLease[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query(
    `UPDATE llm_do.runs SET lease_until = clock_timestamp() + $3 * interval '1 ms'
     FROM unnest($1::text[], $2::int[]) AS held(run, of_epoch)
     WHERE id = held.run AND epoch = held.of_epoch AND lease_until IS NOT NULL RETURNING id`,
    [leases.map(({ run }) => run), leases.map(({ epoch }) => epoch), leaseMilliseconds],
  );
  return new Set(rows.map(({ id }) => String(id)));
}

/** The leases that a process has. All are renewed by one statement. */
export class Leases {
  readonly milliseconds = leaseMilliseconds;
  readonly #renewer: Renewer;
  readonly #clock: Pick<Clock, "sleep" | "monotonic">;
  readonly #held = new Set<Lease>();
  #renewing: AbortController | undefined;

  constructor(renewer: Renewer, clock: Pick<Clock, "sleep" | "monotonic">) {
    this.#renewer = renewer;
    this.#clock = clock;
  }

  get now(): number {
    return this.#clock.monotonic();
  }

  add(lease: Lease): void {
    this.#held.add(lease);
    this.#renewer.hold?.(this.#list());
    if (this.#renewing) return;
    this.#renewing = new AbortController();
    void this.#renewAll(this.#renewing.signal);
  }

  remove(lease: Lease): void {
    this.#held.delete(lease);
    this.#renewer.hold?.(this.#list());
    if (this.#held.size === 0) this.close();
  }

  #list(): readonly HeldLease[] {
    return Array.from(this.#held, ({ run, epoch }) => ({ run, epoch }));
  }

  close(): void {
    this.#renewing?.abort();
    this.#renewing = undefined;
  }

  async #renewAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(renewalMilliseconds, signal).catch(() => undefined);
      if (!signal.aborted) await this.#renew().catch(() => undefined);
      for (const lease of this.#held) if (!lease.isHeld()) lease.lose("its store could not be reached");
    }
  }

  async #renew(): Promise<void> {
    const before = this.now;
    const leases = [...this.#held];
    const renewed = await this.#renewer.renew(leases.map(({ run, epoch }) => ({ run, epoch })));
    for (const lease of leases)
      if (renewed.has(lease.run)) lease.until = before + leaseMilliseconds;
      else if (this.#held.has(lease)) lease.lose("another process goes on with it");
  }
}

export interface LeaseParts {
  readonly run: string;
  readonly epoch: number;
  readonly lose: (error: JournalError) => void;
}

/** The lease of one run. */
export class Lease {
  readonly run: string;
  readonly epoch: number;
  /** By the monotonic clock of the process. */
  until: number;
  readonly #lose: LeaseParts["lose"];
  readonly #leases: Leases;

  constructor(leases: Leases, { run, epoch, lose }: LeaseParts) {
    this.run = run;
    this.epoch = epoch;
    this.until = leases.now + leases.milliseconds;
    this.#lose = lose;
    this.#leases = leases;
    leases.add(this);
  }

  isHeld(): boolean {
    return this.#leases.now < this.until;
  }

  /** Ends the run. Returns the error that says why. */
  lose(why: string): Error {
    const error = new JournalError(new Error(`this run lost its lease: ${why}`));
    this.#leases.remove(this);
    this.#lose(error);
    return error.cause as Error;
  }

  end(): void {
    this.#leases.remove(this);
  }
}
