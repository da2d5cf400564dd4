import { createGate } from "../approval/gate.ts";
import { Activity } from "../effects/activity.ts";
import { nextTurn } from "../host/next-turn.ts";
import type { Program } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { Limits } from "../protocol/usage.ts";
import { amountOf, Budget } from "./bounds/budget.ts";
import { callWorker } from "./call-worker.ts";
import type { RunSetup, RuntimeConfig } from "./config.ts";
import { Connections } from "./connect/connections.ts";
import { CreatedWorkers } from "./connect/created-workers.ts";
import { ServerToolGrants } from "./connect/server-tool-grants.ts";
import { createEmitter } from "./create-emitter.ts";
import { KeptResults } from "./history/cut-results.ts";
import { PrefixWatch } from "./history/prefix-watch.ts";
import { Artifacts } from "./results/artifacts.ts";
import { endsRun } from "./to-run-error.ts";

/** Limits of a run for which nothing says another. */
export const defaultLimits = { depth: 5, parallel: 8 } as const;

/** The data that all calls of a run share: made once, at the boundary, of a program and a policy. `stop` aborts the whole run. */
export function createConfig(program: Program, setup: RunSetup, stop: (reason: unknown) => void): RuntimeConfig {
  const { host, runId, redactor, effects, limits } = setup;
  const declared: Limits = program.entry.kind === "worker" ? program.entry.worker.limits : {};
  const depth = limits.depth ?? declared.depth ?? defaultLimits.depth;
  const parallel = limits.parallel ?? declared.parallel ?? defaultLimits.parallel;
  const entryScopes = program.entry.kind === "worker" ? program.entry.worker.scopes : program.entry.code.scopes;
  const scopes = [...entryScopes, ...[...program.workers.values()].flatMap((worker) => worker.scopes)];
  const scopeRoots = [...new Set(scopes.map(({ root }) => root))];
  const emit = createEmitter({ runId, clock: host.clock, redactor, effects, onEvent: setup.onEvent });
  const timeUp: RuntimeConfig["timeUp"] = new Map();
  const activity = new Activity(stop, nextTurn);
  const config: RuntimeConfig = {
    ...setup,
    program,
    debug: setup.debug || (program.debug ?? false),
    emit,
    gate: createGate({ runId, policy: setup.policy, effects, activity, emit, redactor, stop, timeUp, endsRun }),
    activity,
    budget: new Budget({ ...limits, depth, parallel }, { spent: amountOf(effects.state.usageOfRun(entryName(program))) }),
    serverTools: new ServerToolGrants(),
    artifacts: new Artifacts(),
    connections: new Connections(),
    created: new CreatedWorkers(),
    keptResults: new KeptResults(setup.results),
    prefixes: new PrefixWatch(),
    timeUp,
    openScopes: (declarations, { callPath, atFirstUse = false } = {}) =>
      host.openScopes(declarations, {
        owner: config,
        atFirstUse,
        programFiles: program.protectedPaths,
        programFolder: program.root,
        codeFolders: program.codeFolders,
        scopeRoots,
        ...(setup.writes && callPath !== undefined ? { beforeReplacing: setup.writes.listenerOf(callPath) } : {}),
      }),
    callWorker,
  };
  return Object.freeze(config);
}

/** The path of the entry's call. */
export function entryName({ entry }: Program): CallPath {
  return entry.kind === "worker" ? entry.worker.name : entry.code.name;
}
