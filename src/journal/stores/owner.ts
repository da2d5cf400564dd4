import type { Host } from "../../host/host.ts";
import type { Fact } from "../../protocol/fact.ts";
import { CannotResume, type RecordReader } from "./record-place.ts";

export type OwnerHost = Pick<Host, "processes">;

/** The records that runs of this process write. */
const held = new Set<string>();

function keyOf({ processes }: OwnerHost, { path }: Pick<RecordReader, "path">): string {
  return `${processes.self}\n${path}`;
}

/** Notes that a run of this process writes a record, until the returned function is called. */
export function hold(host: OwnerHost, record: Pick<RecordReader, "path">): () => void {
  const key = keyOf(host, record);
  held.add(key);
  return () => held.delete(key);
}

/**
 * Throws a `CannotResume` if a process executes the run, or may do so. The caller holds the lock of the record.
 */
export function checkOwner(host: OwnerHost, record: Pick<RecordReader, "path">, facts: readonly Fact[], takeOver: boolean): void {
  const state = findOwnerState(host, record, facts);
  if (state === "runs")
    throw new CannotResume(`another process executes this run (process ${processOf(facts)}): wait for it, or end it`);
  if (state === "unknown" && !takeOver)
    throw new CannotResume(
      "this run was executed on another machine, and whether it still is cannot be seen here: --take-over goes on with it",
    );
}

/** Returns whether a process executes a run. `unknown`: the process is one of another machine. */
export function findOwnerState(
  host: OwnerHost,
  record: Pick<RecordReader, "path" | "isExecuted">,
  facts: readonly Fact[],
): "runs" | "unknown" | "none" {
  if (record.isExecuted !== undefined) return record.isExecuted ? "runs" : "none";
  const owner = ownerOf(facts);
  if (owner === undefined) return "none";
  const { self, isRunning } = host.processes;
  const runs = owner === self ? held.has(keyOf(host, record)) : isRunning(owner);
  return runs === undefined ? "unknown" : runs ? "runs" : "none";
}

function ownerOf(facts: readonly Fact[]): string | undefined {
  const last = facts.findLast((fact) => fact.type === "attempt" || fact.type === "run-start" || fact.type === "run-end");
  // Entries of a damaged journal are looked at, too.
  return last && "owner" in last && typeof last.owner === "string" ? last.owner : undefined;
}

function processOf(facts: readonly Fact[]): string {
  const owner = ownerOf(facts) ?? "";
  return owner.split(" ")[2] ?? owner;
}
