import type { JournalWriter } from "../journal/journal.ts";
import { prepareIn } from "../journal/record.ts";
import type { SecretKeeper } from "../journal/secret-keeper.ts";
import { readRunEnds } from "../journal/stores/run-index.ts";
import type { Client } from "./database.ts";
import { Fenced, type GroupWriter } from "./group-writer.ts";
import type { Lease } from "./leases.ts";
import type { RunPlace } from "./run-place.ts";

export interface WriterParts {
  readonly database: Client;
  readonly group: GroupWriter;
  readonly place: RunPlace;
  readonly keeper: SecretKeeper;
  readonly lease: Lease;
  /** The number of the next entry. */
  readonly from: number;
}

/** Writes the entries of one lease. What is written is on disk. */
export class PostgresWriter implements JournalWriter {
  readonly prepare: JournalWriter["prepare"];
  readonly #parts: WriterParts;
  #next: number;
  #lost: Error | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#next = parts.from;
    this.prepare = prepareIn(parts.place, parts.keeper);
  }

  async append(lines: string): Promise<void> {
    const { group, lease } = this.#parts;
    if (this.#lost) throw this.#lost;
    const bodies = lines.split(/(?<=\n)/);
    const from = this.#next;
    this.#next += bodies.length;
    const { run, epoch } = lease;
    await group.write({ run, epoch, from, bodies, isHeld: () => lease.isHeld() }).catch((thrown: unknown) => {
      this.#lost = thrown instanceof Fenced ? lease.lose(thrown.message) : undefined;
      throw this.#lost ?? thrown;
    });
  }

  async sync(): Promise<void> {
    await this.#parts.keeper.sync();
    if (this.#lost) throw this.#lost;
  }

  /** Gives the lease back, and notes how the run ended. */
  async close(): Promise<void> {
    const { database, keeper, lease, place } = this.#parts;
    lease.end();
    await keeper.close();
    const { ends } = await readRunEnds(place);
    const state = ends?.last?.type === "run-end" ? ends.last.stopReason : "stopped";
    await database.query("UPDATE llm_do.runs SET lease_until = NULL, owner = NULL, state = $3 WHERE id = $1 AND epoch = $2", [
      ...[lease.run, lease.epoch, state],
    ]);
  }
}
