/** States of a submitted run in which an executor goes on with it, once no process has its lease. */
const readyStates = "'ready', 'running', 'stopped', 'aborted'";

/** Conditions of SQL: executors have nothing to do with a run; and it does not wait for answers either. */
export const isAtRest = `state NOT IN (${readyStates})`;
export const hasEnded = `(${isAtRest} AND state <> 'suspended')`;

/** A condition of SQL: no hook was queued since the run ended or began to wait for answers. The index `runs_untold` spells out the same. */
export const isUntold = `queue IS NOT NULL AND ${isAtRest} AND told IS DISTINCT FROM (state || epoch::text)`;

/** A condition of SQL: an executor may take the run of this row. */
export function isReady(row: string): string {
  return `${row}.queue IS NOT NULL AND NOT ${row}.cancelled AND ${row}.state IN (${readyStates})
    AND coalesce(${row}.lease_until <= clock_timestamp(), true) AND coalesce(${row}.not_before <= clock_timestamp(), true)`;
}

/** A condition of SQL: the run of this row has begun with files that lie at none of these places. `places`: a parameter, such as `$2`. */
export function isElsewhere(row: string, places: string): string {
  return `(${row}.place IS NOT NULL AND NOT ${row}.place = ANY(${places}) AND EXISTS (SELECT FROM llm_do.facts WHERE run = ${row}.id))`;
}

/** Names the program of a queue, as executors say that they serve it. */
export const servedName = "queue || '/' || program";

/** An expression of SQL: why no process executes a submitted run; null where one does, or nothing is to be done. */
export const whyItWaits = `CASE
  WHEN queue IS NULL THEN NULL
  WHEN cancelled THEN 'cancelled'
  WHEN ${isAtRest} THEN CASE WHEN reason IS NOT NULL THEN 'failed: ' || reason END
  WHEN lease_until > clock_timestamp() THEN NULL
  WHEN NOT EXISTS (SELECT FROM llm_do.executors WHERE seen > clock_timestamp() - interval '30 s' AND ${servedName} = ANY(serves))
    THEN 'waits: no executor has the program ' || program || ' in the queue ' || queue
  WHEN NOT EXISTS (SELECT FROM llm_do.executors e WHERE seen > clock_timestamp() - interval '30 s' AND NOT ${isElsewhere("runs", "e.places")})
    THEN 'waits: its files are in ' || place || ', where no executor runs'
  WHEN reason IS NOT NULL THEN 'waits: ' || reason
  WHEN not_before > clock_timestamp() THEN 'waits until ' || to_char(not_before AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
  ELSE 'waits for an executor' END`;
