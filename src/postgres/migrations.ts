import type { Client } from "./database.ts";

/** Numbered from 1; one that is published is never changed. A body is bytes: `jsonb` refuses what results of tools hold, such as `\u0000`. */
const migrations: readonly string[] = [
  `
  CREATE TABLE llm_do.runs (
    id text PRIMARY KEY,
    program text NOT NULL, root text NOT NULL,
    state text NOT NULL, began timestamptz NOT NULL DEFAULT clock_timestamp(),
    epoch int NOT NULL, owner text, lease_until timestamptz
  );
  CREATE INDEX runs_began ON llm_do.runs (began DESC, id DESC);
  CREATE INDEX runs_program ON llm_do.runs (program, began DESC);
  CREATE TABLE llm_do.facts (
    run text NOT NULL REFERENCES llm_do.runs ON DELETE CASCADE,
    n int NOT NULL, epoch int NOT NULL, time timestamptz NOT NULL DEFAULT clock_timestamp(), body bytea NOT NULL,
    PRIMARY KEY (run, n)
  );
  CREATE TABLE llm_do.blobs (digest text NOT NULL, piece int NOT NULL, used date NOT NULL DEFAULT current_date, body bytea NOT NULL,
    PRIMARY KEY (digest, piece));
  CREATE TABLE llm_do.lines (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL REFERENCES llm_do.runs ON DELETE CASCADE, log text NOT NULL, body bytea NOT NULL
  );
  CREATE INDEX lines_run ON llm_do.lines (run, log, id);
  CREATE TABLE llm_do.parts (
    run text NOT NULL REFERENCES llm_do.runs ON DELETE CASCADE,
    part text NOT NULL, name text NOT NULL, piece int NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (run, part, name, piece)
  );
  `,
  `
  ALTER TABLE llm_do.runs
    ADD COLUMN queue text, ADD COLUMN request bytea, ADD COLUMN request_digest text, ADD COLUMN submit_key text,
    ADD COLUMN priority int NOT NULL DEFAULT 0, ADD COLUMN not_before timestamptz, ADD COLUMN reason text,
    ADD COLUMN cancelled boolean NOT NULL DEFAULT false, ADD COLUMN told text;
  CREATE UNIQUE INDEX runs_submitted ON llm_do.runs (queue, program, submit_key);
  CREATE INDEX runs_state ON llm_do.runs (state) WHERE queue IS NOT NULL;
  CREATE TABLE llm_do.executors (id text PRIMARY KEY, seen timestamptz NOT NULL, serves text[] NOT NULL);
  `,
  `
  CREATE INDEX runs_untold ON llm_do.runs (id) WHERE queue IS NOT NULL
    AND state NOT IN ('ready', 'running', 'stopped', 'aborted') AND told IS DISTINCT FROM (state || epoch::text);
  CREATE TABLE llm_do.blob_uses (
    run text NOT NULL REFERENCES llm_do.runs ON DELETE CASCADE, digest text NOT NULL,
    PRIMARY KEY (run, digest)
  );
  CREATE INDEX blob_uses_digest ON llm_do.blob_uses (digest);
  INSERT INTO llm_do.blob_uses SELECT DISTINCT f.run, found[1]
    FROM llm_do.facts f, regexp_matches(convert_from(f.body, 'UTF8'), '[0-9a-f]{64}', 'g') AS found
    WHERE EXISTS (SELECT FROM llm_do.blobs WHERE digest = found[1]);
  `,
  `
  ALTER TABLE llm_do.runs ADD COLUMN place text;
  ALTER TABLE llm_do.executors ADD COLUMN places text[] NOT NULL DEFAULT '{}';
  `,
];

/** Names the lock under which processes that start at once migrate one after the other. */
export const migrationLock = 7_316_011;

/** Brings a database to today's tables. Rejects if it is one of a newer llm-do. */
export async function migrate(client: Client): Promise<void> {
  await client.query("SELECT pg_advisory_lock($1)", [migrationLock]);
  try {
    await client.query("CREATE SCHEMA IF NOT EXISTS llm_do");
    await client.query("CREATE TABLE IF NOT EXISTS llm_do.migrations (number int PRIMARY KEY, time timestamptz DEFAULT now())");
    const done = await versionOf(client);
    if (done > migrations.length)
      throw new Error(
        `the database is one of a newer llm-do (migration ${done}; this one knows ${migrations.length}): update llm-do`,
      );
    for (let number = done; number < migrations.length; number++) await apply(client, number + 1);
  } finally {
    await client.query("SELECT pg_advisory_unlock($1)", [migrationLock]).catch(() => undefined);
  }
}

async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query("SELECT coalesce(max(number), 0) AS number FROM llm_do.migrations");
  return Number(rows[0]?.["number"] ?? 0);
}

async function apply(client: Client, number: number): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migrations[number - 1] ?? "");
    await client.query("INSERT INTO llm_do.migrations (number) VALUES ($1)", [number]);
    await client.query("COMMIT");
  } catch (thrown) {
    await client.query("ROLLBACK");
    throw thrown;
  }
}
