import type { AppendFile } from "../host/host.ts";
import type { LogName, PartName, RecordPlace } from "../journal/stores/record-place.ts";
import type { Client } from "./database.ts";
import type { Seal } from "./seal.ts";

/** In bytes: a larger content is kept in pieces. */
const pieceBytes = 8_000_000;

/** How many entries at each end of a journal are looked at first. */
const endEntries = 64;

export interface PlaceOptions {
  readonly id: string;
  /** Names the store to a person. */
  readonly store: string;
  /** Undefined: neither secrets nor contents before writes are kept, or given back. */
  readonly seal: Seal | undefined;
  /** Whether a process has the lease. */
  readonly isExecuted: boolean;
}

/** The record of one run in a database, in the form that readers of records know. */
export class RunPlace implements RecordPlace {
  readonly id: string;
  readonly path: string;
  readonly isExecuted: boolean;
  readonly #client: Client;
  readonly #seal: Seal | undefined;

  constructor(client: Client, { id, store, seal, isExecuted }: PlaceOptions) {
    this.id = id;
    this.path = `${store}/${id}`;
    this.isExecuted = isExecuted;
    this.#client = client;
    this.#seal = seal;
  }

  async readLog(name: LogName): Promise<string | undefined> {
    if (name === "journal.jsonl") {
      const { rows } = await this.#client.query("SELECT body FROM llm_do.facts WHERE run = $1 ORDER BY n", [this.id]);
      return rows.length === 0 ? undefined : textOf(rows);
    }
    const { rows } = await this.#client.query("SELECT body FROM llm_do.lines WHERE run = $1 AND log = $2 ORDER BY id", [
      this.id,
      name,
    ]);
    if (rows.length === 0) return undefined;
    if (name !== "secrets.jsonl") return textOf(rows);
    const { id } = this;
    const seal = this.#seal;
    return seal && rows.map(({ body }) => Buffer.from(seal.open(body as Uint8Array, `${id}\n${name}`)).toString("utf8")).join("");
  }

  async readEnds(bytes: number) {
    const size = await this.#client.query("SELECT coalesce(sum(length(body)), 0) AS bytes FROM llm_do.facts WHERE run = $1", [
      this.id,
    ]);
    const all = Number(size.rows[0]?.["bytes"] ?? 0);
    if (all === 0) return undefined;
    if (all <= bytes) {
      const whole = Buffer.from((await this.readLog("journal.jsonl")) ?? "");
      return { start: whole, end: whole, bytes: whole.length };
    }
    const part = async (order: "ASC" | "DESC") => {
      const text = `SELECT n, body FROM llm_do.facts WHERE run = $1 ORDER BY n ${order} LIMIT ${endEntries}`;
      const { rows } = await this.#client.query(text, [this.id]);
      return Buffer.from(textOf(order === "ASC" ? rows : rows.toReversed()));
    };
    // Readers take the text before the first line break of the end for half a line.
    return { start: await part("ASC"), end: Buffer.concat([Buffer.from("\n"), await part("DESC")]), bytes: all };
  }

  async readPart(part: PartName, name: string): Promise<Uint8Array> {
    const { rows } = await (part === "blobs"
      ? this.#client.query("SELECT body FROM llm_do.blobs WHERE digest = $1 ORDER BY piece", [name])
      : this.#client.query("SELECT body FROM llm_do.parts WHERE run = $1 AND part = $2 AND name = $3 ORDER BY piece", [
          ...[this.id, part, name],
        ]));
    if (rows.length === 0) throw new Error(`there is no ${part}/${name}`);
    const content = Buffer.concat(rows.map(({ body }) => body as Uint8Array));
    if (part !== "private") return content;
    if (!this.#seal) throw new Error("LLM_DO_STORE_KEY is not set");
    return this.#seal.open(content, `${this.id}\n${name}`);
  }

  async readStart(part: PartName, name: string, bytes: number) {
    const content = await this.readPart(part, name);
    return { start: content.subarray(0, bytes), bytes: content.length };
  }

  async openLog(name: LogName): Promise<AppendFile> {
    if (name === "secrets.jsonl" && !this.#seal) throw new Error("LLM_DO_STORE_KEY is not set");
    let pending = Promise.resolve();
    const write = async (text: string) => {
      const body = name === "secrets.jsonl" ? this.#seal?.seal(Buffer.from(text), `${this.id}\n${name}`) : Buffer.from(text);
      await this.#client.query("INSERT INTO llm_do.lines (run, log, body) VALUES ($1, $2, $3)", [this.id, name, body]);
    };
    return {
      append: (text) => {
        pending = pending.then(() => write(text));
        pending.catch(() => undefined);
      },
      size: () => undefined,
      sync: () => pending,
      close: () => pending,
    };
  }

  /** Lines are whole or not there. */
  async replaceLog(): Promise<void> {
    throw new Error("invariant: a log in a database has no torn tail");
  }

  async writePart(part: PartName, name: string, content: Uint8Array | string): Promise<void> {
    if (name === "" || name === "." || name === ".." || name.includes("/")) throw new Error(`\`${name}\` is no name`);
    const plain = Buffer.from(content as Uint8Array);
    if (part === "private" && !this.#seal) throw new Error("LLM_DO_STORE_KEY is not set");
    const bytes = part === "private" ? Buffer.from(this.#seal?.seal(plain, `${this.id}\n${name}`) ?? plain) : plain;
    const isBlob = part === "blobs";
    for (let piece = 0; piece === 0 || piece * pieceBytes < bytes.length; piece++) {
      const body = bytes.subarray(piece * pieceBytes, (piece + 1) * pieceBytes);
      if (isBlob)
        await this.#client.query(
          `WITH kept AS (INSERT INTO llm_do.blobs (digest, piece, body) VALUES ($1, $2, $3)
             ON CONFLICT (digest, piece) DO UPDATE SET used = current_date WHERE blobs.used < current_date)
           INSERT INTO llm_do.blob_uses (run, digest) VALUES ($4, $1) ON CONFLICT DO NOTHING`,
          [name, piece, body, this.id],
        );
      else
        await this.#client.query(
          `INSERT INTO llm_do.parts (run, part, name, piece, body) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (run, part, name, piece) DO UPDATE SET body = excluded.body`,
          [this.id, part, name, piece, body],
        );
    }
  }

  /** The lock is the row of the run, in a transaction. */
  alone<T>(fn: () => Promise<T>): Promise<T> {
    return fn();
  }

  async close(): Promise<void> {}
}

function textOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return Buffer.concat(rows.map(({ body }) => body as Uint8Array)).toString("utf8");
}
