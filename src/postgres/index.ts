import { variable } from "../host/host.ts";
import { createNodeHost } from "../host/node-host.ts";
import type { RunStore } from "../journal/stores/store.ts";
import { type PostgresHost, PostgresStore } from "./postgres-store.ts";

export interface PostgresStoreOptions {
  /** 64 hex digits. Default: `LLM_DO_STORE_KEY`. Without one, secrets and what file tools replace are not kept. */
  readonly key?: string;
  /** Default: this machine. */
  readonly host?: PostgresHost;
}

/** A store of records in a database: for `store` of a run, and of all that is done with its record. */
export interface ClosableStore extends RunStore {
  /** Gives the connections back, once no run uses it any more. */
  close(): Promise<void>;
}

/** Opens a store in PostgreSQL, and makes its tables. `url`: `postgres://USER:PASSWORD@HOST:PORT/NAME`. Needs the package `pg`. */
export function openPostgresStore(
  url: string,
  { host: given, key: keyGiven }: PostgresStoreOptions = {},
): Promise<ClosableStore> {
  const host = given ?? createNodeHost();
  const key = keyGiven ?? variable(createNodeHost(), "LLM_DO_STORE_KEY");
  return PostgresStore.open({ url, key, host });
}
