import { basename } from "node:path";
import type { Host } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import type { Redactor, Secret } from "../util/redactor.ts";
import { cutTail } from "./cut-tail.ts";
import { createJournal, isOpen, type Journal, JournalError } from "./journal.ts";
import { createPrivateFolder } from "./private-folder.ts";
import { type RunRecord, readRecord } from "./read-journal.ts";
import type { RunSecrets } from "./run-secrets.ts";
import { createWriteLog, type WriteLog } from "./write-log.ts";

/** A run cannot go on: another process executes it, or there is nothing to go on with. */
export class CannotResume extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CannotResume";
  }
}

export interface ResumeOptions {
  /** Today's values of secrets known by name. */
  readonly known: readonly Secret[];
  /** Takes over a run of another machine, whose processes cannot be looked at. */
  readonly takeOver: boolean;
  readonly createRedactor: (secrets: RunSecrets) => Redactor;
  /** Creates the facts that are added now: the beginning of a continuation, or answers. Throws where nothing can be added. */
  readonly begin: (facts: readonly Fact[], redactor: Redactor) => readonly Fact[];
}

export interface ResumedJournal extends Pick<RunRecord, "facts" | "times" | "isWhole"> {
  readonly journal: Journal;
  readonly redactor: Redactor;
  readonly writes: WriteLog;
}

/**
 * Opens the journal of a run to add to it: cuts a torn tail off, and records the first facts. The last owner that
 * the journal names has to be dead, so that one process alone executes a run; the look and the record happen under a lock. Rejects
 * with a `CannotResume`, an `UnreadableJournal` or a `JournalError`.
 */
export async function resumeJournal(host: Host, directory: string, options: ResumeOptions): Promise<ResumedJournal> {
  const path = `${directory}/journal.jsonl`;
  if ((await host.files.kind(path)) === undefined)
    throw new CannotResume(`nothing is recorded in ${directory}: there is nothing to go on with`);
  const resumed = host.files.alone(path, async () => {
    const read = () => readRecord(host, directory, options.known);
    let record = await read();
    if (checkOwner(host, directory, record.facts, options.takeOver)) record = await read();
    const folder = createPrivateFolder(host, basename(directory), record.kept);
    const redactor = options.createRedactor(folder.secrets);
    const added = options.begin(record.facts, redactor);
    if (record.torn)
      await cutTail(host, path).catch((cause: unknown) => {
        throw new JournalError(cause);
      });
    const entries = record.facts.length;
    const journal = await createJournal({ host, directory, redactor, private: folder, entries });
    for (const fact of added) journal.append(fact);
    await journal.written({ durable: true });
    const { isWhole } = record;
    const writes = createWriteLog(host, basename(directory), folder);
    const times = [...record.times, ...added.map(() => host.clock.now())];
    return { facts: [...record.facts, ...added], times, isWhole, journal, redactor, writes };
  });
  return resumed.catch((thrown: unknown) => {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ELOCKED")) throw thrown;
    throw new CannotResume(
      `${directory} cannot be locked: another process begins to go on with the run, or you may not write there`,
    );
  });
}

/**
 * Throws a `CannotResume` where a process executes the run, or may do so. The caller holds the lock of the journal. Returns true where the
 * process that the facts name has ended without a record of that: it may have written more since they were read.
 */
export function checkOwner(host: Host, directory: string, facts: readonly Fact[], takeOver: boolean): boolean {
  const state = findOwnerState(host, directory, facts);
  if (state === "runs")
    throw new CannotResume(`another process executes this run (process ${processOf(facts)}): wait for it, or end it`);
  if (state === "unknown" && !takeOver)
    throw new CannotResume(
      "this run was executed on another machine, and whether it still is cannot be seen here: --take-over goes on with it",
    );
  return ownerOf(facts) !== undefined;
}

/** Returns whether a process executes a run. `unknown`: the process is one of another machine. */
export function findOwnerState(host: Host, directory: string, facts: readonly Fact[]): "runs" | "unknown" | "none" {
  const owner = ownerOf(facts);
  if (owner === undefined) return "none";
  const { self, isRunning } = host.processes;
  const runs = owner === self ? isOpen(host, directory) : isRunning(owner);
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
