import { createGate } from "../approval/gate.ts";
import type { Program } from "../program/program.ts";
import type { DeniedCall } from "../protocol/approval.ts";
import type { Limits } from "../protocol/usage.ts";
import { Artifacts } from "./artifacts.ts";
import { callWorker } from "./call-worker.ts";
import type { RuntimeConfig } from "./config.ts";
import { createEmitter } from "./create-emitter.ts";
import { FailureStreak } from "./failure-streak.ts";
import { LimitAccount } from "./limit-account.ts";
import type { RunEntryOptions } from "./run-entry.ts";
import { ServerToolGrants } from "./server-tool-grants.ts";
import { endsRun } from "./to-run-error.ts";
import { UsageMeter } from "./usage-meter.ts";

const defaultLimits = { depth: 5, parallel: 8 } as const;

export interface RunHooks {
  readonly denied: DeniedCall[];
  /** Aborts the whole run. */
  readonly stop: (reason: unknown) => void;
}

/** What all calls of a run share: made once, at the boundary, of a program and a policy. */
export function createConfig(program: Program, options: RunEntryOptions, { denied, stop }: RunHooks): RuntimeConfig {
  const { host, runId, policy, journal, limits } = options;
  const declared: Limits = program.entry.kind === "worker" ? program.entry.worker.limits : {};
  const depth = limits.depth ?? declared.depth ?? defaultLimits.depth;
  const parallel = limits.parallel ?? declared.parallel ?? defaultLimits.parallel;
  const emit = createEmitter({ runId, clock: host.clock, redactor: options.redactor, onEvent: options.onEvent });
  const record = journal.record.bind(journal);
  const redact = options.redactor.json.bind(options.redactor);
  const config: RuntimeConfig = {
    runId,
    program,
    gate: createGate({
      runId,
      policy,
      step: journal.step,
      sleep: host.clock.sleep.bind(host.clock),
      record,
      emit,
      redact,
      hideKnown: (value) => options.redactor.hideKnown(value),
      onDenied: (call) => denied.push(call),
      stop,
      endsRun,
    }),
    meter: new UsageMeter(),
    failures: new FailureStreak(),
    account: new LimitAccount({ ...limits, depth, parallel }),
    serverTools: new ServerToolGrants(),
    artifacts: new Artifacts(),
    maxTurns: limits.turns,
    journal,
    clock: host.clock,
    random: () => host.random(),
    openScopes: host.openScopes.bind(host),
    resolveModel: options.resolveModel,
    debug: options.debug || (program.debug ?? false),
    priceOf: options.priceOf,
    streaming: options.streaming,
    emit,
    onMessage: options.onMessage,
    callWorker: (worker, request) => callWorker(config, worker, request),
  };
  return Object.freeze(config);
}
