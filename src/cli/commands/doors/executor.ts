import { hostname } from "node:os";
import { Executor } from "../../executor/executor.ts";
import { findPlaces, findPrograms } from "../../executor/find-programs.ts";
import { postHook } from "../../executor/hooks.ts";
import { type ExecutorFigures, serveHealth } from "../../executor/serve-health.ts";
import { UsageError } from "../../exit-codes.ts";
import { createGuardedHost } from "../../process/guard-imports.ts";
import { guardCommand } from "../../process/guarded-command.ts";
import { useProxies } from "../../process/use-proxies.ts";
import { createWatchdog } from "../../process/watchdog.ts";
import { readUserConfig } from "../../programs/user-config.ts";
import { openQueue } from "../../records/use-database.ts";
import { createPolicy } from "../../run/create-policy.ts";
import type { RunFlags } from "../../run/run-flags.ts";
import { createRequest } from "../../run/run-request.ts";

export interface ExecutorFlags extends RunFlags {
  readonly programs: readonly string[];
  readonly queue?: readonly string[];
  /** Names of scopes. */
  readonly shared?: readonly string[];
  readonly concurrency: number;
  /** Seconds. */
  readonly grace: number;
  readonly port?: number;
}

/** The time that the code of each program has to load, before the executor goes on without it. */
const loadSeconds = 60;

/** `llm-do executor --programs DIR…`: executes submitted runs until it is told to stop. Returns the exit code. */
export function executorCommand(given: ExecutorFlags): Promise<number> {
  const hold = given.hold ?? (!given.approveAll && !given.rejectAll);
  const flags = { ...given, headless: true, journal: true, ...(hold ? { hold } : {}) };
  return guardCommand(flags, async ({ signal, note }) => {
    using watchdog = createWatchdog({ hasTerminal: false });
    const { hooks } = await readUserConfig();
    const addresses = { question: hooks?.value.question?.value, end: hooks?.value.end?.value };
    const key = process.env["LLM_DO_HOOK_KEY"] ?? "";
    delete process.env["LLM_DO_HOOK_KEY"];
    if (hooks && key === "") throw new UsageError("`hooks` of your configuration need LLM_DO_HOOK_KEY, which signs their posts");
    const approval = await createPolicy(flags, undefined);
    const { signal: _, ...request } = createRequest(flags, signal);
    const loading = new AbortController();
    const stopLoading = () => loading.abort(signal.reason);
    signal.addEventListener("abort", stopLoading);
    const { host } = createGuardedHost({ controller: loading, watchdog });
    const own = { signal, host, toRun: true, quiet: flags.quiet, terminal: undefined, onCode: watchdog.start };
    // For code that keeps the main thread, where no timer of it ends the wait.
    watchdog.limit(2 * loadSeconds);
    const programs = await findPrograms(flags.programs, flags, { ...own, loadSeconds });
    watchdog.limit(undefined);
    const places = findPlaces(programs, flags.shared ?? []);
    for (const { key, scopes } of places.values())
      if (scopes.length > 0)
        note(
          `runs of ${key} that begin here are gone on with here only: ${scopes.join(", ")} may be this machine's alone (--shared says that it is not)`,
        );
    await useProxies(process.env, note);
    const { store, queue } = await openQueue({ serves: true });
    const figures: ExecutorFigures = { executing: 0, ended: new Map(), seen: performance.now() };
    const port = flags.port === undefined ? undefined : await serveHealth(flags.port, figures);
    if (port !== undefined) note(`serves /healthz and /metrics on port ${port}`);
    if (hooks) await queue.postHooks((job, id) => postHook(job, id, key));
    const { concurrency, grace, quiet = false, queue: queues = ["default"] } = flags;
    // From here on runs load code as long as they may go on.
    signal.removeEventListener("abort", stopLoading);
    const work = { store, queue, programs, places, stopLoading, concurrency, quiet };
    const parts = { ...work, request: { ...request, approval }, hooks: addresses, figures };
    await new Executor(parts, `${hostname()} ${host.processes.self}`, queues).serve(signal, grace);
    await queue.close();
    await store.close();
    throw signal.reason;
  });
}
