import { parentPort, workerData } from "node:worker_threads";
import { nodeClock } from "../../host/node-clock.ts";
import { type Client, openDatabase } from "../../postgres/database.ts";
import { type HeldLease, renewalMilliseconds, renewLeases } from "../../postgres/leases.ts";

/*
 * The thread of `lease-renewer.ts`. It renews the leases that the main thread holds on a connection of its own, however long code of a
 * program keeps that thread.
 */

let held: readonly HeldLease[] = [];
const database: Promise<Client> = openDatabase((workerData as { readonly url: string }).url, nodeClock, 1);

async function renew(leases: readonly HeldLease[]): Promise<ReadonlySet<string>> {
  return leases.length === 0 ? new Set<string>() : renewLeases(await database, leases);
}

parentPort?.on("message", ({ ask, leases }: { readonly ask?: number; readonly leases: readonly HeldLease[] }) => {
  held = leases;
  if (ask === undefined) return;
  renew(leases).then(
    (renewed) => parentPort?.postMessage({ ask, renewed }),
    (thrown: unknown) => parentPort?.postMessage({ ask, problem: String(thrown) }),
  );
});
setInterval(() => void renew(held).catch(() => undefined), renewalMilliseconds);
