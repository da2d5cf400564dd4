import { createNodeHost } from "../../host/node-host.ts";
import { useStore } from "../../journal/stores/find-store.ts";
import type { PostgresStore } from "../../postgres/postgres-store.ts";
import type { RunQueue } from "../../postgres/run-queue.ts";
import { addTakenSecrets } from "../../util/secrets/redactor.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { UsageError } from "../exit-codes.ts";

let opened: { readonly url: string; readonly store: PostgresStore } | undefined;

/**
 * Opens the database that `--store` or `LLM_DO_STORE` names as the store of this process. The address, which can hold a password, and the key
 * are taken out of what code of a program sees of the process. Rejects with a `UsageError` that says what is wrong, without either.
 * `hasThread`: leases are renewed in a thread of its own.
 */
export async function useDatabase(url: string, hasThread = false): Promise<void> {
  const { LLM_DO_STORE_KEY: key } = process.env;
  for (const name of ["LLM_DO_STORE", "LLM_DO_STORE_KEY"]) delete process.env[name];
  process.argv = process.argv.map((word) => word.replace(url, "postgres://…"));
  const { password = "" } = URL.parse(url) ?? {};
  const secrets = { LLM_DO_STORE: url, PGPASSWORD: decode(password), LLM_DO_STORE_KEY: key ?? "" };
  addTakenSecrets(Object.entries(secrets).flatMap(([name, value]) => (value === "" ? [] : [{ name, value }])));
  const { PostgresStore } = await import("../../postgres/postgres-store.ts");
  try {
    const { startLeaseRenewer } = await import("../process/lease-renewer.ts");
    const startRenewer = hasThread ? () => startLeaseRenewer(url) : undefined;
    const store = await PostgresStore.open({ url, key: key || undefined, host: createNodeHost(), startRenewer });
    useStore(store);
    opened = { url, store };
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}

/** Opens the queue of submitted runs in the database of this process. `serves`: runs are taken from it. */
export async function openQueue({ serves = false } = {}): Promise<{ readonly store: PostgresStore; readonly queue: RunQueue }> {
  if (!opened) throw new UsageError("this needs a database: --store postgres://…, or LLM_DO_STORE");
  const { RunQueue } = await import("../../postgres/run-queue.ts");
  const { url, store } = opened;
  try {
    return { store, queue: await RunQueue.open(store, serves ? url : undefined) };
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
