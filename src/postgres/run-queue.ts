import type { PgBoss } from "pg-boss";
import { CannotResume } from "../journal/stores/record-place.ts";
import { readRunEnds } from "../journal/stores/run-index.ts";
import type { JsonObject } from "../protocol/json.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import { type Client, importPackage, type Row } from "./database.ts";
import { migrationLock } from "./migrations.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { hasEnded, isElsewhere, isReady, isUntold, servedName } from "./ready.ts";

/** A run that is to be executed by whichever executor is free. */
export interface Submission {
  readonly id: string;
  /** The program as its store names it. */
  readonly program: string;
  readonly root: string;
  readonly queue: string;
  /** Input, files and limits. */
  readonly request: JsonObject;
  readonly priority: number;
  readonly at?: Date | undefined;
  /** The same key of a program in a queue is the same run. */
  readonly key?: string | undefined;
}

export interface QueuedRun {
  readonly id: string;
  /** Throws if the key is missing with which it was sealed. */
  readonly readRequest: () => JsonObject;
  /** Its record has begun. */
  readonly isBegun: boolean;
}

/** A queue of a program. */
export interface ServedProgram {
  readonly queue: string;
  readonly program: string;
}

/** An executor, as the queue hands runs to it. */
export interface Service {
  readonly id: string;
  readonly served: readonly ServedProgram[];
  /** Where its programs keep files that other executors have not. */
  readonly places: readonly string[];
  readonly concurrency: number;
  /** `id`: of a run that was ready when it was queued. */
  readonly execute: (id: string, served: ServedProgram) => Promise<void>;
}

export interface EndedRun extends ServedProgram {
  readonly id: string;
  readonly state: string;
}

/** A job of a hook, as it is posted. */
export interface HookJob {
  readonly url: string;
  readonly body: string;
}

const hookQueue = "llm-do-hooks";

/** How often a worker looks for jobs unasked. Jobs whose time has come wake none; the sweep does. */
const pace = { pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 10 };

/** Hands submitted runs out. A job is a hint: the row of the run says whether something is to be done. */
export class RunQueue {
  readonly #store: PostgresStore;
  readonly #boss: PgBoss;
  /** One for each slot, by the name of the queue that they serve. */
  readonly #workers = new Map<string, string[]>();

  private constructor(store: PostgresStore, boss: PgBoss) {
    this.#store = store;
    this.#boss = boss;
  }

  /** `url`: the queue supervises its jobs, and hears of new ones at once. Default: it only takes them in. */
  static async open(store: PostgresStore, url?: string): Promise<RunQueue> {
    const { PgBoss } = await importPackage(() => import("pg-boss"), "pg-boss@12");
    const own =
      url === undefined
        ? { db: toDb(store.database), supervise: false }
        : { connectionString: url, max: 2, useListenNotify: true };
    const boss = new PgBoss({ ...own, schema: "llm_do_jobs", schedule: false });
    // A failed job is tried again, and the sweep finds runs that were missed.
    boss.on("error", () => undefined);
    // Processes that start at once would make its tables twice.
    await store.database.transaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
      await boss.start();
    });
    return new RunQueue(store, boss);
  }

  close(): Promise<void> {
    return this.#boss.stop({ graceful: false });
  }

  /** Takes a run in. Resolves with its id, or the id of the earlier run of its key. Rejects if that one has another request. */
  async submit(submission: Submission): Promise<string> {
    const { id, program, root, queue, request, priority, at = null, key = null } = submission;
    const digest = sha256(canonicalJson(request));
    await this.#createQueue({ queue, program });
    return this.#store.database.transaction(async (client) => {
      const { rows } = await client.query(
        `INSERT INTO llm_do.runs (id, program, root, state, epoch, queue, request, request_digest, submit_key, priority, not_before)
         VALUES ($1, $2, $3, 'ready', 0, $4, $5, $6, $7, $8, $9) ON CONFLICT (queue, program, submit_key) DO NOTHING RETURNING id`,
        [id, program, root, queue, this.#pack(id, request), digest, key, priority, at],
      );
      if (rows.length > 0) await this.#send(client, { id, queue, program, priority, not_before: at });
      return rows.length > 0 ? id : this.#findEarlier(client, { program, queue, key, digest });
    });
  }

  async #findEarlier(client: Client, { program, queue, key, digest }: Row): Promise<string> {
    const { rows } = await client.query(
      "SELECT id, request_digest FROM llm_do.runs WHERE queue = $1 AND program = $2 AND submit_key = $3",
      [queue, program, key],
    );
    const [earlier] = rows;
    if (earlier?.["request_digest"] === digest) return String(earlier?.["id"]);
    throw new CannotResume(`the key \`${String(key)}\` was used for another input: the run ${String(earlier?.["id"])}`);
  }

  /** Takes a run that has not ended off the queue: the executor that has it ends it. Undefined for one that was not submitted. */
  async cancel(id: string): Promise<{ readonly state: string; readonly cancelled: boolean } | undefined> {
    const { rows } = await this.#store.database.query(
      `UPDATE llm_do.runs SET cancelled = cancelled OR NOT ${hasEnded} WHERE id = $1 AND queue IS NOT NULL RETURNING state, cancelled`,
      [id],
    );
    return rows[0] as { readonly state: string; readonly cancelled: boolean } | undefined;
  }

  /** Executes runs as they become ready, until the queue is closed. */
  async serve({ served, concurrency, execute }: Service): Promise<void> {
    for (const one of served) {
      await this.#createQueue(one);
      const workers: string[] = [];
      this.#workers.set(nameOf(one), workers);
      for (let slot = 0; slot < concurrency; slot++)
        workers[slot] = await this.#boss.work<{ readonly run: string }>(nameOf(one), pace, async (jobs) => {
          for (const { data } of jobs) await execute(data.run, one);
          // It looks for the next job at once.
          this.#boss.notifyWorker(workers[slot] ?? "");
        });
    }
  }

  /** Undefined for a run that is not ready any more, or whose files are at other places than these. */
  async find(id: string, places: readonly string[]): Promise<QueuedRun | undefined> {
    const { rows } = await this.#store.database.query(
      `SELECT request, epoch, EXISTS (SELECT FROM llm_do.facts WHERE run = r.id) AS begun FROM llm_do.runs r
       WHERE id = $1 AND ${isReady("r")} AND NOT ${isElsewhere("r", "$2")}`,
      [id, places],
    );
    const [row] = rows;
    if (!row || (await this.#settle(id, row["epoch"]))) return undefined;
    return { id, readRequest: () => this.#unpack(id, row["request"] as Uint8Array), isBegun: row["begun"] === true };
  }

  /** Keeps a run, once it has begun, with the executors of a place. */
  async keepAt(id: string, place: string): Promise<void> {
    await this.#store.database.query("UPDATE llm_do.runs SET place = $2 WHERE id = $1", [id, place]);
  }

  /** Notes how a run ended whose executor went away after its last entry. Resolves with whether it had ended. */
  async #settle(id: string, epoch: unknown): Promise<boolean> {
    const { ends } = await this.#store.look(id, readRunEnds);
    if (ends?.last?.type !== "run-end" || ends.last.stopReason === "aborted") return false;
    await this.#store.database.query(
      `UPDATE llm_do.runs r SET state = $3, reason = NULL, lease_until = NULL, owner = NULL WHERE id = $1 AND epoch = $2 AND ${isReady("r")}`,
      [id, epoch, ends.last.stopReason],
    );
    return true;
  }

  /** Says which programs are served, and queues runs that are ready and have no job. Resolves with those of `active` that were cancelled. */
  async sweep({ id, served, places }: Service, active: readonly string[]): Promise<readonly string[]> {
    const { database } = this.#store;
    const names = served.map(({ queue, program }) => `${queue}/${program}`);
    // Those that were killed are forgotten by the others.
    await database.query(
      `WITH gone AS (DELETE FROM llm_do.executors WHERE id <> $1 AND seen < clock_timestamp() - interval '5 minutes')
       INSERT INTO llm_do.executors VALUES ($1, clock_timestamp(), $2, $3) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
      [id, names, places],
    );
    const { rows } = await database.query(
      `SELECT id, queue, program, priority FROM llm_do.runs r
       WHERE ${isReady("r")} AND ${servedName} = ANY($1) AND NOT ${isElsewhere("r", "$2")} ORDER BY began LIMIT 1000`,
      [names, places],
    );
    for (const row of rows) await this.#send(database, row);
    for (const [name, workers] of this.#workers) {
      const ready = rows.filter(({ queue, program }) => nameOf({ queue: String(queue), program: String(program) }) === name);
      for (const worker of workers.slice(0, ready.length)) this.#boss.notifyWorker(worker);
    }
    const cancelled = await database.query("SELECT id FROM llm_do.runs WHERE id = ANY($1) AND cancelled", [active]);
    return cancelled.rows.map((row) => String(row["id"]));
  }

  /** Says that an executor is gone. */
  async leave(id: string): Promise<void> {
    await this.#store.database.query("DELETE FROM llm_do.executors WHERE id = $1", [id]);
  }

  /** Keeps a run that could not begin for later, or for good, and says why. One that another process has meanwhile stays as it is. */
  async postpone(id: string, reason: string, seconds: number | undefined): Promise<void> {
    const state = seconds === undefined ? "failed" : "ready";
    await this.#store.database.query(
      `UPDATE llm_do.runs r SET reason = $2, state = $3, not_before = clock_timestamp() + $4 * interval '1 s' WHERE id = $1 AND ${isReady("r")}`,
      [id, reason, state, seconds ?? 0],
    );
  }

  /** Queues a post for each run that ended or waits for answers, once for each time that it does. */
  async queueHooks(toJob: (run: EndedRun) => HookJob | undefined): Promise<void> {
    await this.#store.database.transaction(async (client) => {
      const { rows } = await client.query(
        `UPDATE llm_do.runs SET told = state || epoch::text WHERE ${isUntold} RETURNING id, queue, program, state`,
      );
      for (const row of rows) {
        const job = toJob(row as unknown as EndedRun);
        if (job) await this.#boss.send(hookQueue, job, { db: toDb(client) });
      }
    });
  }

  /** Posts what is queued; what rejects is tried again for a day. */
  async postHooks(post: (job: HookJob, id: string) => Promise<void>): Promise<void> {
    await this.#boss.createQueue(hookQueue, { retryLimit: 20, retryDelay: 5, retryBackoff: true, retryDelayMax: 3600 });
    await this.#boss.work<HookJob>(hookQueue, { localConcurrency: 4 }, async (jobs) => {
      for (const { id, data } of jobs) await post(data, id);
    });
  }

  /** One job of a run waits at a time. What an executor took with it is found by the sweep. */
  #createQueue(served: ServedProgram): Promise<void> {
    const forever = 365 * 86_400;
    const policy = { policy: "short", retryLimit: 0, expireInSeconds: 86_400 - 1, retentionSeconds: forever } as const;
    return this.#boss.createQueue(nameOf(served), { ...policy, deleteAfterSeconds: 60, notify: true });
  }

  async #send(client: Client, { id, queue, program, priority, not_before: at }: Row): Promise<void> {
    const name = nameOf({ queue: String(queue), program: String(program) });
    const options = { singletonKey: String(id), priority: Number(priority), ...(at instanceof Date ? { startAfter: at } : {}) };
    await this.#boss.send(name, { run: id }, { ...options, db: toDb(client) });
  }

  /** The first byte says whether the request is sealed. */
  #pack(id: string, request: JsonObject): Uint8Array {
    const text = Buffer.from(JSON.stringify(request));
    const { seal } = this.#store;
    return seal ? Buffer.concat([Buffer.from("s"), seal.seal(text, `${id}\nrequest`)]) : Buffer.concat([Buffer.from("p"), text]);
  }

  #unpack(id: string, packed: Uint8Array): JsonObject {
    const { seal } = this.#store;
    const body = packed.subarray(1);
    if (packed[0] === 0x70) return JSON.parse(Buffer.from(body).toString("utf8"));
    if (!seal) throw new Error(`the run ${id} was submitted with LLM_DO_STORE_KEY, which is not set here`);
    return JSON.parse(Buffer.from(seal.open(body, `${id}\nrequest`)).toString("utf8"));
  }
}

/** Names of jobs have fewer characters than those of programs. */
function nameOf({ queue, program }: ServedProgram): string {
  return `llm-do/${sha256(`${queue}/${program}`).slice(0, 32)}`;
}

/** Results of several statements in one text are a list, which pg-boss reads as it is. */
function toDb(client: Client) {
  return { executeSql: (text: string, values?: unknown[]) => client.query(text, values) as Promise<{ rows: Row[] }> };
}
