import type { Host } from "../../host/host.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { abortable } from "../../util/async/abortable.ts";
import { LoadTimeout } from "../exit-codes.ts";
import type { Watchdog } from "./watchdog.ts";

export interface GuardOptions {
  readonly controller: AbortController;
  readonly watchdog: Watchdog;
}

export interface GuardedHost {
  readonly host: Host;
  /** Sets the time that the modules of the program have to load. Undefined, as before the call: no limit. */
  limitLoading(seconds: number | undefined): void;
  /** From now on the time is the run's, which ends by itself unless code keeps the main thread. */
  startRun(seconds: number | undefined): Promise<void>;
}

/**
 * Returns this machine as a host for the program's code. A module may never finish loading: an abort ends the wait for it, and the
 * controller aborts with a `LoadTimeout` when the time is up.
 */
export function createGuardedHost({ controller, watchdog }: GuardOptions): GuardedHost {
  const host = createNodeHost();
  let loading = 0;
  let isRunning = false;
  let seconds: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    const limit = seconds;
    if (isRunning || limit === undefined) return;
    clearTimeout(timer);
    if (loading > 0) timer = setTimeout(() => controller.abort(new LoadTimeout(limit)), limit * 1000);
    watchdog.limit(loading > 0 ? limit : undefined);
  };
  const importModule: Host["importModule"] = async (path, texts) => {
    watchdog.start();
    if (loading++ === 0) watch();
    try {
      return await abortable(host.importModule(path, texts), controller.signal);
    } finally {
      if (--loading === 0) watch();
    }
  };
  return {
    host: { ...host, importModule },
    limitLoading: (limit) => {
      seconds = limit;
    },
    startRun: async (left) => {
      isRunning = true;
      watchdog.limit(left);
      await watchdog.ready();
    },
  };
}
