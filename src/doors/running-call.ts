import type { ApprovalPolicy, Approver } from "../approval/policy.ts";
import type { RunOutput, RunRequest } from "../front/llm-do.ts";
import type { ApprovalDecision, ApprovalRequest } from "../protocol/approval.ts";
import type { TraceRequest } from "./trace-request.ts";

/** A question of a run. `id` cannot be guessed, and names the question once. */
export interface AskedQuestion {
  readonly type: "question";
  readonly id: string;
  readonly request: ApprovalRequest;
}

export type Step =
  | AskedQuestion
  | { readonly type: "done"; readonly output: RunOutput }
  | { readonly type: "failed"; readonly thrown: unknown };

/** A run whose caller hears of its questions and of its end by waiting for the next step. */
export interface RunningCall {
  /** Resolves with the open question, or the end. One caller waits at a time. */
  next(): Promise<Step>;
  /** Answers the open question; does nothing for a question that is not open any more. */
  answer(id: string, decision: ApprovalDecision): void;
  abort(reason: Error): void;
}

/** Begins a run. An exception that belongs to no call of it, but to its code, calls `abort`. */
export type WithinRun = <T>(abort: (reason: Error) => void, begin: () => T) => T;

/** The parts that all runs of a door share. */
export interface DoorRuns {
  /** For every run: limits, prices, providers. */
  readonly request: Omit<RunRequest, "approval" | "program" | "input" | "attachments" | "signal" | "onEvent">;
  readonly trace: TraceRequest;
  readonly within: WithinRun;
  readonly policy: ApprovalPolicy;
}

/** Starts a run. `begin` gets the approver that puts its questions to the caller, and a signal that ends the run. */
export function startCall(
  within: WithinRun,
  begin: (approver: Approver, signal: AbortSignal) => Promise<RunOutput>,
): RunningCall {
  const controller = new AbortController();
  let step: Step | undefined;
  let settle: ((decision: ApprovalDecision) => void) | undefined;
  let changed = Promise.withResolvers<void>();
  const set = (next: Step) => {
    step = next;
    changed.resolve();
  };
  const clear = () => {
    step = undefined;
    settle = undefined;
    changed = Promise.withResolvers();
  };
  const approver: Approver = (request, { signal }) =>
    new Promise((resolve, reject) => {
      settle = resolve;
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      set({ type: "question", id: crypto.randomUUID(), request });
    });
  const abort = (reason: Error) => controller.abort(reason);
  within(abort, () => begin(approver, controller.signal)).then(
    (output) => set({ type: "done", output }),
    (thrown: unknown) => set({ type: "failed", thrown }),
  );
  return {
    next: async () => {
      while (!step) await changed.promise;
      return step;
    },
    answer: (id, decision) => {
      if (step?.type !== "question" || step.id !== id) return;
      const answerQuestion = settle;
      clear();
      answerQuestion?.(decision);
    },
    abort,
  };
}

/** The policy in which a client answers the questions. */
export function askedBy(policy: ApprovalPolicy, approver: Approver): ApprovalPolicy {
  const { onUnanswered: _, ...rest } = policy;
  return { ...rest, approver };
}
