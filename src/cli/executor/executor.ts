import type { ApprovalPolicy } from "../../approval/policy.ts";
import { type Program, type RunOutput, type RunRequest, resume, runWith } from "../../front/llm-do.ts";
import type { PostgresStore } from "../../postgres/postgres-store.ts";
import type { QueuedRun, RunQueue, Service } from "../../postgres/run-queue.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Limits } from "../../protocol/usage.ts";
import { RunError } from "../../runtime/run-error.ts";
import { Semaphore } from "../../util/async/semaphore.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { Interrupted } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";
import type { DeployedProgram, ProgramPlace } from "./find-programs.ts";
import { type HookAddresses, toHookJob } from "./hooks.ts";
import type { ExecutorFigures } from "./serve-health.ts";

export interface ExecutorParts {
  readonly store: PostgresStore;
  readonly queue: RunQueue;
  readonly programs: readonly DeployedProgram[];
  /** By the key of a program. */
  readonly places: ReadonlyMap<string, ProgramPlace>;
  /** The same for each run: policy, limits, prices. */
  readonly request: Omit<RunRequest, "input"> & { readonly approval: ApprovalPolicy };
  readonly concurrency: number;
  readonly hooks: HookAddresses;
  readonly figures: ExecutorFigures;
  readonly quiet: boolean;
  /** Ends the wait for code that never loads. */
  readonly stopLoading: () => void;
}

/** The content of a submitted run. */
export interface SubmittedRequest {
  readonly input?: JsonObject | string;
  /** In base 64. */
  readonly files?: readonly { readonly name: string; readonly bytes: string }[];
  readonly limits?: Limits;
}

/** Seconds for which a run that could not begin is left alone. */
const pauseSeconds = 30;
const sweepMilliseconds = 2000;
/** Between two looks for contents that no run has any more. */
const cleanMilliseconds = 3_600_000;

/** Executes submitted runs of its programs until it is stopped. */
export class Executor {
  readonly #parts: ExecutorParts;
  readonly #service: Service;
  readonly #slots: Semaphore;
  readonly #active = new Map<string, AbortController>();
  #isEnding = false;
  #cleaned = Number.NEGATIVE_INFINITY;

  constructor(parts: ExecutorParts, id: string, queues: readonly string[]) {
    this.#parts = parts;
    this.#slots = new Semaphore(parts.concurrency);
    const served = parts.programs.flatMap(({ key }) => queues.map((queue) => ({ queue, program: key })));
    const execute: Service["execute"] = (id, { program }) => this.#take(id, program);
    const places = [...parts.places.values()].map(({ name }) => name);
    this.#service = { id, served, places, concurrency: parts.concurrency, execute };
  }

  /** Takes runs until the signal aborts, then waits for those that it has, lets go of the rest, and leaves. `grace`: seconds. */
  async serve(signal: AbortSignal, grace: number): Promise<void> {
    const { queue, figures, programs, quiet } = this.#parts;
    await queue.serve(this.#service);
    const queues = new Set(this.#service.served.map((one) => one.queue));
    if (!quiet)
      writeStderr(`llm-do: executes ${programs.map(({ key }) => key).join(", ")} in the queue ${[...queues].join(", ")}\n`);
    while (!signal.aborted) {
      await this.#sweep().then(
        () => {
          figures.seen = performance.now();
        },
        () => undefined,
      );
      await pause(sweepMilliseconds, signal);
    }
    this.#isEnding = true;
    await queue.leave(this.#service.id).catch(() => undefined);
    for (const end = performance.now() + grace * 1000; this.#active.size > 0 && performance.now() < end; ) await pause(50);
    for (const controller of this.#active.values()) controller.abort(new Interrupted("SIGTERM"));
    this.#parts.stopLoading();
    while (this.#active.size > 0) await pause(50);
    await this.#tell().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const cancelled = await this.#parts.queue.sweep(this.#service, [...this.#active.keys()]);
    for (const id of cancelled) this.#active.get(id)?.abort(new Interrupted("SIGINT"));
    await this.#tell();
    if (performance.now() - this.#cleaned < cleanMilliseconds) return;
    await this.#parts.store.sweep();
    this.#cleaned = performance.now();
  }

  async #tell(): Promise<void> {
    const { hooks, queue } = this.#parts;
    if (hooks.end !== undefined || hooks.question !== undefined) await queue.queueHooks((run) => toHookJob(hooks, run));
  }

  /** The run is looked at once there is a slot for it: another executor may have taken it meanwhile. */
  async #take(id: string, key: string): Promise<void> {
    const release = await this.#slots.take();
    const controller = new AbortController();
    const { figures, programs, queue } = this.#parts;
    if (this.#isEnding || this.#active.has(id)) return release();
    this.#active.set(id, controller);
    figures.executing = this.#active.size;
    try {
      const deployed = programs.find((one) => one.key === key);
      const run = await queue.find(id, this.#service.places);
      const place = this.#parts.places.get(key);
      if (run?.isBegun === false && place && place.scopes.length > 0) await queue.keepAt(id, place.name);
      if (run && deployed?.program) this.#note(id, await this.#execute(run, deployed.program, controller.signal));
      else if (run) await queue.postpone(id, deployed?.problem ?? "its program is gone", pauseSeconds);
    } catch (thrown) {
      await this.#noteFailure(id, thrown).catch(() => undefined);
    } finally {
      this.#active.delete(id);
      figures.executing = this.#active.size;
      release();
    }
  }

  async #execute({ id, isBegun, readRequest }: QueuedRun, program: Program, signal: AbortSignal): Promise<RunOutput> {
    const { store, request } = this.#parts;
    const { input, files = [], limits } = readRequest() as unknown as SubmittedRequest;
    const whole = { ...request, program, store, signal, limits: lowest(request.limits, limits) };
    const { attachments: _, journal: __, ...ofResume } = whole;
    if (isBegun) return resume({ ...ofResume, run: id });
    const attachments = files.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes, "base64") }));
    return runWith({ ...whole, attachments, journal: true, ...(input === undefined ? {} : { input }) }, { runId: id });
  }

  /** A run whose record has begun says itself how it ended. */
  async #noteFailure(id: string, thrown: unknown): Promise<void> {
    const code = thrown instanceof RunError ? thrown.code : "failed";
    if (thrown instanceof RunError && thrown.run) return this.#note(id, { stopReason: code, message: thrown.message });
    const isForGood = code === "input_invalid";
    await this.#parts.queue.postpone(id, errorMessage(thrown), isForGood ? undefined : pauseSeconds);
    this.#note(id, { stopReason: isForGood ? "failed" : "postponed", message: errorMessage(thrown) });
  }

  #note(id: string, { stopReason, message = "" }: { readonly stopReason: string; readonly message?: string }): void {
    const { figures, quiet } = this.#parts;
    figures.ended.set(stopReason, (figures.ended.get(stopReason) ?? 0) + 1);
    if (!quiet) writeStderr(`llm-do: ${id}: ${stopReason}${message === "" ? "" : `: ${message.split("\n", 1)[0]}`}\n`);
  }
}

/** The lower of each limit. */
export function lowest(ours: Limits = {}, theirs: Limits = {}): Limits {
  const all = { ...theirs, ...ours } as Record<string, number>;
  for (const [name, value] of Object.entries(theirs)) all[name] = Math.min(all[name] ?? value, value);
  return all as Limits;
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
  });
}
