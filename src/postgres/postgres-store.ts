import type { Host } from "../host/host.ts";
import { FactEncoder } from "../journal/encode.ts";
import { createJournal, JournalError } from "../journal/journal.ts";
import { type RunRecord, readRecord, readUnchecked } from "../journal/read-journal.ts";
import { beginLease, createKeepers, watchRecord, writePage } from "../journal/record.ts";
import { createSecretKeeper } from "../journal/secret-keeper.ts";
import { checkRemoval } from "../journal/stores/cannot-remove.ts";
import { keyOf } from "../journal/stores/folder-store.ts";
import { CannotResume } from "../journal/stores/record-place.ts";
import { readRunEnds } from "../journal/stores/run-index.ts";
import type { LeaseOptions, NewRun, OpenRecord, RunFilter, RunStore, RunSummary } from "../journal/stores/store.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import type { Secret } from "../util/secrets/redactor.ts";
import { type Client, type Database, openDatabase, patientClient, type Row } from "./database.ts";
import { GroupWriter } from "./group-writer.ts";
import { Lease, Leases, type Renewer, renewLeases } from "./leases.ts";
import { PostgresWriter } from "./postgres-writer.ts";
import { isReady, whyItWaits } from "./ready.ts";
import { RunPlace } from "./run-place.ts";
import { createSeal, type Seal } from "./seal.ts";

export type PostgresHost = Pick<Host, "clock" | "processes" | "createKey">;

export interface PostgresOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/NAME`. */
  readonly url: string;
  /** 64 hex digits, which seal secrets and what file tools replace. Without it neither is kept. */
  readonly key?: string | undefined;
  readonly host: PostgresHost;
  /** Renews leases where the main thread may be kept. Default: this thread does. */
  readonly startRenewer?: (() => Renewer) | undefined;
}

/** A store of records in PostgreSQL. */
export class PostgresStore implements RunStore {
  readonly path: string;
  readonly isOwn = false;
  /** For the queue of runs, which is kept beside them. */
  readonly database: Database;
  readonly seal: Seal | undefined;
  readonly #host: PostgresHost;
  readonly #writer: GroupWriter;
  readonly #leases: Leases;

  private constructor(database: Database, { host, key, startRenewer }: PostgresOptions) {
    this.path = database.name;
    this.database = database;
    this.#host = host;
    this.seal = key === undefined ? undefined : createSeal(key);
    this.#writer = new GroupWriter(database, host.clock);
    this.#leases = new Leases(startRenewer?.() ?? { renew: (leases) => renewLeases(database, leases) }, host.clock);
  }

  static async open(options: PostgresOptions): Promise<PostgresStore> {
    if (options.key !== undefined) createSeal(options.key);
    return new PostgresStore(await openDatabase(options.url, options.host.clock), options);
  }

  /** Gives the connections back. Records that are open lose their leases when these are over. */
  async close(): Promise<void> {
    this.#leases.close();
    await this.database.close();
  }

  async create(run: NewRun): Promise<OpenRecord> {
    const { id, program, redactor, secrets } = run;
    const { rows } = await this.database
      .query(
        `INSERT INTO llm_do.runs (id, program, root, state, epoch, owner, lease_until)
         VALUES ($1, $2, $3, 'running', 1, $4, clock_timestamp() + $5 * interval '1 ms') ON CONFLICT (id) DO UPDATE
         SET state = 'running', reason = NULL, root = excluded.root, epoch = runs.epoch + 1, owner = excluded.owner, lease_until = excluded.lease_until
         WHERE ${isReady("runs")} AND NOT EXISTS (SELECT FROM llm_do.facts WHERE run = runs.id) RETURNING epoch`,
        [id, keyOf(program, true), program.root, this.#host.processes.self, this.#leases.milliseconds],
      )
      .catch((cause: unknown) => {
        throw new JournalError(cause, true);
      });
    if (rows.length === 0) throw new JournalError(new Error(`there is a run \`${id}\``), true);
    const notes = this.seal
      ? []
      : [
          "LLM_DO_STORE_KEY is not set: secrets of this run, and what its tools replace, are not kept, so that it cannot be undone",
        ];
    const record = { facts: [], times: [], isWhole: true, kept: undefined, secrets };
    return { ...this.#openToWrite({ id, epoch: Number(rows[0]?.["epoch"]), record, redactor }), notes };
  }

  async open(id: string, options: LeaseOptions): Promise<OpenRecord> {
    const { record, epoch } = await this.#take(id, options, this.#leases.milliseconds);
    const redactor = options.createRedactor(record.secrets);
    const added = options.begin(record.facts, redactor);
    const opened = this.#openToWrite({ id, epoch, record, redactor });
    return { ...(await beginLease(opened, added, () => this.#now())), notes: [] };
  }

  /** Raises the epoch, too: a process whose lease is over may still believe in it. */
  async answer(id: string, options: Omit<LeaseOptions, "takeOver">): Promise<readonly Fact[]> {
    const { facts, journal } = await this.open(id, { ...options, takeOver: false });
    const failed = await journal.close();
    if (failed) throw failed;
    return facts;
  }

  /** Takes the lease of a run in the transaction in which its facts are read. */
  async #take(id: string, options: LeaseOptions, milliseconds: number) {
    return this.database.transaction(async (client) => {
      const row = await this.#find(client, id, "FOR UPDATE");
      const place = this.#placeOf(client, row);
      if (place.isExecuted && !options.takeOver)
        throw new CannotResume(`another process executes this run (${String(row["owner"])}): wait for it, or end it`);
      const epoch = Number(row["epoch"]) + 1;
      await client.query(
        `UPDATE llm_do.runs SET epoch = $2, owner = $3, state = 'running', reason = NULL, lease_until = clock_timestamp() + $4 * interval '1 ms'
         WHERE id = $1`,
        [id, epoch, this.#host.processes.self, milliseconds],
      );
      const read = options.isUndo ? readUnchecked : readRecord;
      const record = await read(place, options.known, this.#host.createKey);
      if (record.facts.length === 0) throw new CannotResume(`nothing is recorded of ${id}: there is nothing to go on with`);
      options.begin(record.facts, options.createRedactor(record.secrets));
      return { record, epoch };
    });
  }

  #openToWrite({ id, epoch, record, redactor }: ToWrite): Omit<OpenRecord, "notes"> {
    const { facts, times, isWhole, kept, secrets } = record;
    const database = patientClient(this.database, this.#host.clock);
    const place = this.#placeOf(database, { id, is_executed: true });
    const keeper = createSecretKeeper(place, secrets, kept);
    const clock = { now: () => this.#now() };
    const encoder = new FactEncoder({ clock, redactor, secrets, entries: facts.length, epoch });
    const lost = new AbortController();
    const lease = new Lease(this.#leases, { run: id, epoch, lose: (error) => lost.abort(error) });
    const writer = new PostgresWriter({ database, group: this.#writer, place, keeper, lease, from: facts.length });
    const journal = createJournal(encoder, writer, facts.length);
    return { facts, times, isWhole, journal, redactor, ...createKeepers(place, keeper), lost: lost.signal };
  }

  #now(): number {
    return this.#host.clock.now() + this.database.clockOffset();
  }

  #placeOf(client: Client, row: Row): RunPlace {
    return new RunPlace(client, {
      ...{ id: String(row["id"]), store: this.path, seal: this.seal, isExecuted: row["is_executed"] === true },
    });
  }

  async #find(client: Client, id: string, lock = ""): Promise<Row> {
    const { rows } = await client.query(`SELECT ${columns} FROM llm_do.runs WHERE id = $1 ${lock}`, [id]);
    const [row] = rows;
    if (!row) throw new CannotResume(`there is no run \`${id}\` in ${this.path}`);
    return row;
  }

  read(id: string, known: readonly Secret[] = []): Promise<RunRecord> {
    return this.look(id, (record) => readRecord(record, known));
  }

  async look<T>(id: string, use: (record: RunPlace) => Promise<T>): Promise<T> {
    return use(this.#placeOf(this.database, await this.#find(this.database, id)));
  }

  async *list({ program, id }: RunFilter = {}): AsyncIterable<RunSummary> {
    const { rows } = await this.database.query(
      `SELECT ${columns} FROM llm_do.runs WHERE ($1::text IS NULL OR program = $1) AND ($2::text IS NULL OR id = $2)
       ORDER BY began DESC, id DESC`,
      [program ? keyOf(program, true) : null, id ?? null],
    );
    for (const row of rows) yield this.#summaryOf(row);
  }

  async #summaryOf(row: Row): Promise<RunSummary> {
    const began = Math.round(Number(row["began_at"]));
    const read = await readRunEnds(this.#placeOf(this.database, row));
    const waits = row["waits"] === null ? {} : { waits: String(row["waits"]) };
    const isListed = read.ends?.first !== undefined || row["waits"] !== null;
    const submitted = row["is_submitted"] === true ? { isSubmitted: true } : {};
    return {
      id: String(row["id"]),
      root: String(row["root"]),
      ...submitted,
      ...read,
      ...waits,
      began: isListed ? began : undefined,
    };
  }

  async roots(): Promise<readonly string[]> {
    const { rows } = await this.database.query("SELECT DISTINCT root FROM llm_do.runs");
    return rows.map(({ root }) => String(root));
  }

  watch(id: string, from: number, signal: AbortSignal): AsyncIterable<JournalEntry> {
    return watchRecord(this, { id, from, signal, clock: this.#host.clock });
  }

  keepPage(id: string, page: string): Promise<string> {
    return this.look(id, (place) => writePage(place, page));
  }

  async remove(id: string): Promise<void> {
    await this.database.transaction(async (client) => {
      const row = await this.#find(client, id, "FOR UPDATE");
      await checkRemoval(this.#host, this.#placeOf(client, row));
      await client.query("DELETE FROM llm_do.runs WHERE id = $1", [id]);
    });
  }

  /** Removes blobs that no run refers to. Those written since yesterday stay: their run may be about to refer to them. */
  async sweep(): Promise<void> {
    await this.database.query(
      `DELETE FROM llm_do.blobs b WHERE used < current_date - 1 AND NOT EXISTS (SELECT FROM llm_do.blob_uses u WHERE u.digest = b.digest)`,
    );
  }
}

const columns = `id, root, epoch, owner, queue IS NOT NULL AS is_submitted, extract(epoch FROM began) * 1000 AS began_at,
  coalesce(lease_until > clock_timestamp(), false) AS is_executed, ${whyItWaits} AS waits`;

interface ToWrite {
  readonly id: string;
  readonly epoch: number;
  readonly record: Pick<RunRecord, "facts" | "times" | "isWhole" | "kept" | "secrets">;
  readonly redactor: NewRun["redactor"];
}
