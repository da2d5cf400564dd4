import type { Host } from "../host/host.ts";
import { createNodeHost } from "../host/node-host.ts";
import { abortable } from "../util/abortable.ts";
import { LoadTimeout } from "./exit-codes.ts";
import type { Watchdog } from "./watchdog.ts";

export interface GuardOptions {
  readonly controller: AbortController;
  readonly watchdog: Watchdog;
  /** The time that the modules of the program have to load. Undefined: no limit. */
  readonly seconds: number | undefined;
}

export interface GuardedHost {
  readonly host: Host;
  /** From now on the time is the run's, which ends by itself unless code keeps the main thread. */
  startRun(seconds: number | undefined): Promise<void>;
}

/**
 * Returns this machine as a host for the program's code. A module may never finish loading: an abort ends the wait for it, and the
 * controller aborts with a `LoadTimeout` when the time is up.
 */
export function createGuardedHost({ controller, watchdog, seconds }: GuardOptions): GuardedHost {
  const host = createNodeHost();
  let loading = 0;
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;
  const limitLoading = () => {
    if (isRunning || seconds === undefined) return;
    clearTimeout(timer);
    if (loading > 0) timer = setTimeout(() => controller.abort(new LoadTimeout(seconds)), seconds * 1000);
    watchdog.limit(loading > 0 ? seconds : undefined);
  };
  const importModule: Host["importModule"] = async (path, texts) => {
    watchdog.start();
    if (loading++ === 0) limitLoading();
    try {
      return await abortable(host.importModule(path, texts), controller.signal);
    } finally {
      if (--loading === 0) limitLoading();
    }
  };
  return {
    host: { ...host, importModule },
    startRun: async (left) => {
      isRunning = true;
      watchdog.limit(left);
      await watchdog.ready();
    },
  };
}
