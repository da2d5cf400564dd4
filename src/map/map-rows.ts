import { type Program, type RunOutput, type RunRequest, resumeWith, runWith } from "../front/llm-do.ts";
import { hostOf } from "../front/open-program.ts";
import { runOptions } from "../front/requests.ts";
import type { Host } from "../host/host.ts";
import { openStore } from "../journal/stores/find-store.ts";
import { CannotResume } from "../journal/stores/record-place.ts";
import type { RunStore } from "../journal/stores/store.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { inOrder } from "../util/async/in-order.ts";
import { checkOptions, type OptionCheck, textOption } from "../util/check-options.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { environmentSecrets } from "../util/secrets/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { type LoggedRun, type MapLog, noLog, withMapLog } from "./map-log.ts";

export type { MappedRow } from "./row-result.ts";

import { type MappedRow, type RowEnd, recordedEnd, spentIn, toFailedRow, toRowEnd } from "./row-result.ts";
import { SharedPace } from "./shared-pace.ts";

/** An input of the entry; an error for a row that is none, which is named among the results. */
export type Row = JsonObject | string | Error;

export interface MapRequest extends Omit<RunRequest, "input" | "history" | "journal" | "program"> {
  /** A program that `compile` returned with `toRun: true`. */
  readonly program: Program;
  readonly rows: Iterable<Row> | AsyncIterable<Row>;
  /** The most rows at a time. Default: 20. */
  readonly parallel?: number;
  /** Dollars for all rows: no request goes out once they are spent. Default: no bound but `limits` of each run. */
  readonly usd?: number;
  /**
   * Names what is mapped: a later call with this name, for the same program and store, runs only rows that have not ended. Rows are known by
   * their content. Default: each call begins anew.
   */
  readonly name?: string;
}

const { input: _, history: __, journal: ___, ...runTable } = runOptions.table;

const mapOptions: OptionCheck<MapRequest> = {
  path: "mapRuns",
  table: {
    ...runTable,
    rows: { wanted: "a list of inputs, or something else to iterate over", fits: isIterable },
    parallel: { wanted: "a whole number, 1 or more", fits: (value) => Number.isSafeInteger(value) && Number(value) > 0 },
    usd: { wanted: "a number of dollars, more than 0", fits: (value) => typeof value === "number" && value > 0 },
    name: textOption,
  },
  required: ["program", "rows", "approval"],
};

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** The work of `mapRuns`. */
export async function* mapRows(request: MapRequest): AsyncGenerator<MappedRow, void> {
  checkOptions(request, mapOptions);
  const { name, program, host = hostOf(program) } = request;
  const store = openStore(host, request.store);
  if (name === undefined) return yield* mapWith(request, store, noLog);
  // The log is locked for as long as rows are mapped.
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open, reject: fail } = Promise.withResolvers<MapLog>();
  const locked = withMapLog(host, { store: store.path, program: program.root, name }, async (log) => {
    open(log);
    await finished;
  }).catch(fail);
  try {
    yield* mapWith(request, store, await opened);
  } finally {
    finish();
    await locked;
  }
}

async function* mapWith(request: MapRequest, store: RunStore, log: MapLog): AsyncGenerator<MappedRow, void> {
  const { rows, parallel = 20, usd, program, host = hostOf(program) } = request;
  const pace = new SharedPace({ clock: host.clock, usd });
  const mapper = new RowMapper({ request, host, store, log, pace });
  for (const run of log.runs()) pace.spend(run.usd ?? spentIn(await mapper.read(run.run)));
  const work = async ({ row, key, input }: NamedRow) => ({ row, ...(await mapper.map(key, input)) });
  yield* inOrder(named(rows), work, { parallel, ahead: Math.max(1000, parallel), isOver: () => pace.isUsedUp });
}

interface NamedRow {
  readonly row: number;
  /** A digest of its content, and which one of equal rows it is. */
  readonly key: string;
  readonly input: Row;
}

async function* named(rows: MapRequest["rows"]): AsyncGenerator<NamedRow> {
  const counts = new Map<string, number>();
  let row = 0;
  for await (const input of rows) {
    const digest = sha256(input instanceof Error ? input.message : canonicalJson(input)).slice(0, 24);
    const count = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, count);
    yield { row: ++row, key: count === 1 ? digest : `${digest}.${count}`, input };
  }
}

interface MapperParts {
  readonly request: MapRequest;
  readonly host: Host;
  readonly store: RunStore;
  readonly log: MapLog;
  readonly pace: SharedPace;
}

class RowMapper {
  readonly #parts: MapperParts;

  constructor(parts: MapperParts) {
    this.#parts = parts;
  }

  /** Runs a row, goes on with its run, or returns what became of it. */
  async map(key: string, input: Row): Promise<RowEnd> {
    const { log } = this.#parts;
    if (input instanceof Error)
      return {
        runId: null,
        stopReason: "invalid",
        output: null,
        error: { code: "input_invalid", message: input.message },
        usage: null,
      };
    const earlier = log.take(key);
    return (earlier && (await this.#goOn(key, earlier))) ?? (await this.#begin(key, input));
  }

  /** The facts of a run; none where nothing is recorded of it. */
  async read(run: string): Promise<readonly Fact[]> {
    const { host, store, request } = this.#parts;
    try {
      return (await store.read(run, [...environmentSecrets(host.environment), ...request.program.secrets])).facts;
    } catch (thrown) {
      if (thrown instanceof CannotResume) return [];
      throw thrown;
    }
  }

  /** Undefined if the run did not come to its first entry: nothing happened in it. */
  async #goOn(key: string, { run }: LoggedRun): Promise<RowEnd | undefined> {
    const { store, request, log, pace } = this.#parts;
    const facts = await this.read(run);
    if (facts.length === 0) return undefined;
    const ended = recordedEnd(run, facts);
    if (ended) return ended;
    // The logged dollars are too few from here on: if this start is killed, the next one reads them from the record.
    log.end(key, { run });
    const { attachments: _attachments, fragments: _fragments, ...more } = runRequest(request);
    return this.#play(key, run, () => resumeWith({ ...more, run, store }, { pace }));
  }

  async #begin(key: string, input: JsonObject | string): Promise<RowEnd> {
    const { request, host, store, log, pace } = this.#parts;
    const runId = host.createId();
    await log.begin(key, runId);
    return this.#play(key, runId, () => runWith({ ...runRequest(request), store, input, journal: true }, { runId, pace }));
  }

  async #play(key: string, run: string, play: () => Promise<RunOutput>): Promise<RowEnd> {
    const { log } = this.#parts;
    const end = await play().then(toRowEnd, (thrown: unknown) => toFailedRow(thrown, null));
    if (end.runId !== null) log.end(key, { run, usd: (end.usage?.usd ?? 0) + (end.usage?.unknownUsd ?? 0) });
    return end;
  }
}

function runRequest(request: MapRequest): Omit<RunRequest, "input"> {
  const { rows: _rows, parallel: _parallel, usd: _usd, name: _name, ...more } = request;
  return more;
}
