import type { Clock } from "../host/host.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { migrate } from "./migrations.ts";

export type Row = Readonly<Record<string, unknown>>;
/** `name`: each connection prepares the statement once. */
export type Query = (text: string, values?: readonly unknown[], name?: string) => Promise<{ readonly rows: readonly Row[] }>;

/** One connection. */
export interface Client {
  readonly query: Query;
}

/** The connections to one database. */
export interface Database extends Client {
  /** Names the database to a person: without its password. */
  readonly name: string;
  /** Runs a function in one transaction, which is rolled back where it rejects. */
  transaction<T>(use: (client: Client) => Promise<T>): Promise<T>;
  /** Returns the milliseconds by which the clock of the database is ahead of the host's. */
  clockOffset(): number;
  close(): Promise<void>;
}

/** The address without its password. Throws for what is no address. */
function nameOfDatabase(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol))
    throw new Error("this is no address of a database: postgres://USER:PASSWORD@HOST:PORT/NAME");
  return `postgres://${parsed.host || "localhost"}${parsed.pathname}`;
}

/**
 * Opens a database and makes its tables. Opens at most `most` connections at once: a server has 100 for all of its clients, if nobody says
 * otherwise. Rejects with a sentence that says what is wrong, without the password.
 */
export async function openDatabase(url: string, clock: Pick<Clock, "now">, most = 5): Promise<Database> {
  const name = nameOfDatabase(url);
  const { Pool } = await importPackage(() => import("pg").then((module) => module.default));
  const pool = new Pool({ connectionString: url, max: most, connectionTimeoutMillis: 10_000, keepAlive: true });
  // A connection that is lost while nothing uses it: the next statement takes another one.
  pool.on("error", () => undefined);
  const explain = (thrown: unknown): never => {
    const state = lacks.get(codeOf(thrown) ?? "");
    if (state) Object.assign(thrown as Error, { message: `the database ${name} ${state}: ${errorMessage(thrown)}` });
    throw thrown;
  };
  const queryBy =
    (client: Pick<typeof pool, "query">): Query =>
    (text, values = [], name) =>
      client.query({ text, values: [...values], name }).catch(explain) as unknown as ReturnType<Query>;
  const query = queryBy(pool);
  const transaction: Database["transaction"] = async (use) => {
    const client = await pool.connect().catch(explain);
    client.on("error", ignore);
    let failure: Error | undefined;
    try {
      await client.query("BEGIN");
      const result = await use({ query: queryBy(client) });
      await client.query("COMMIT");
      return result;
    } catch (thrown) {
      await client.query("ROLLBACK").catch((error: Error) => {
        failure = error;
      });
      throw thrown;
    } finally {
      client.off("error", ignore);
      client.release(failure);
    }
  };
  try {
    await migrateOnce(pool);
    const before = clock.now();
    const { rows } = await query("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
    const offset = Math.round(Number(rows[0]?.["now"]) - (before + clock.now()) / 2);
    return { name, query, transaction, clockOffset: () => offset, close: () => pool.end() };
  } catch (thrown) {
    await pool.end().catch(() => undefined);
    throw new Error(`the database ${name} cannot be used: ${describe(thrown)}`, { cause: thrown });
  }
}

/** Words for a database that has no room, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const lacks: ReadonlyMap<string, string> = new Map([
  ["53100", "is full"],
  ["53300", "has no connection left (`max_connections` in its configuration)"],
]);

function ignore(): void {}

async function migrateOnce(pool: { connect(): Promise<{ query: unknown; release(): void }> }): Promise<void> {
  const client = await pool.connect();
  try {
    await migrate(client as unknown as Client);
  } finally {
    client.release();
  }
}

function describe(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors.map(errorMessage).join("; ");
  return errorMessage(thrown) || codeOf(thrown) || "it does not answer";
}

/** Imports an optional package. Rejects with the line to type if it is missing. */
export async function importPackage<T>(load: () => Promise<T>, name = "pg@8"): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    if (codeOf(thrown) !== "ERR_MODULE_NOT_FOUND") throw thrown;
    throw new Error(`a store in PostgreSQL needs a package that is not installed: npm install ${name}`);
  }
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Returns whether a statement may be good a moment later: the connection or the server is gone, or has no room. */
export function isPassing(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (code === undefined) return /connection|timeout|terminat/i.test(errorMessage(thrown));
  // Classes of SQLSTATE: connection, resources, operator; conflicts of transactions.
  return /^(?:08|53|57P|40)/.test(code) || /^E[A-Z]+$/.test(code);
}

/** Attempts of a statement, and milliseconds between two of them. */
const mostAttempts = 25;
const pause = 200;

/**
 * Returns a client that repeats statements which can be made again, for five seconds. A line of the log of writes is not among them: undoing
 * goes by their order.
 */
export function patientClient(client: Client, clock: Pick<Clock, "sleep">): Client {
  const query: Query = async (text, values = [], name) => {
    const isOnce = text.startsWith("INSERT INTO llm_do.lines") && values[1] !== "secrets.jsonl";
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.query(text, values, name);
      } catch (thrown) {
        if (isOnce || attempt === mostAttempts || !isPassing(thrown)) throw thrown;
        await clock.sleep(pause);
      }
    }
  };
  return { query };
}
