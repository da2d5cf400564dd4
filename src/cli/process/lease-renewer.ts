import { Worker } from "node:worker_threads";
import type { HeldLease, Renewer } from "../../postgres/leases.ts";

interface Answer {
  readonly ask: number;
  readonly renewed?: ReadonlySet<string>;
  readonly problem?: string;
}

/** Renews leases in a thread of its own. Its end ends the process: without it a run would lose its lease unseen. */
export function startLeaseRenewer(url: string): Renewer {
  // In dist/ this file is part of another one, in a folder beside that of the thread.
  const file = import.meta.url.endsWith(".ts") ? "./lease-thread.ts" : "../cli/process/lease-thread.js";
  const thread = new Worker(new URL(file, import.meta.url), { workerData: { url }, env: {} });
  const waiting = new Map<number, (answer: Answer) => void>();
  let asks = 0;
  thread.on("message", (answer: Answer) => {
    waiting.get(answer.ask)?.(answer);
    waiting.delete(answer.ask);
  });
  thread.unref();
  const renew = (leases: readonly HeldLease[]) =>
    new Promise<ReadonlySet<string>>((resolve, reject) => {
      const ask = ++asks;
      waiting.set(ask, ({ renewed, problem }) => (renewed ? resolve(renewed) : reject(new Error(problem))));
      thread.postMessage({ ask, leases });
    });
  return { renew, hold: (leases) => thread.postMessage({ leases }) };
}
