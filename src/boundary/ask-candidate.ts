import { createAnswerer } from "../effects/answerer.ts";
import { type RunInterception, runWith } from "../front/llm-do.ts";
import { nodeClock } from "../host/node-clock.ts";
import type { PriceOverrides } from "../models/prices.ts";
import type { RunEvent } from "../protocol/event.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import { dollarsOf } from "../protocol/usage.ts";
import { RunError } from "../runtime/run-error.ts";
import { anySignal } from "../util/async/abortable.ts";
import { SharedBudget } from "../util/shared-budget.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { answeredByContent } from "./calls/answer-from-record.ts";
import type { OpenCandidate } from "./candidate.ts";
import type { Case } from "./case-file.ts";
import type { Answer } from "./compare.ts";

export interface AskOptions {
  /** The most cases that are asked at the same time. Default 4. */
  readonly parallel?: number;
  /** The most dollars of all requests of the candidate. Default: no limit. */
  readonly usd?: number | undefined;
  readonly prices?: PriceOverrides;
  /** Tools without side effects that the record does not answer run. Default false. */
  readonly liveReads?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A case with what is recorded of it. */
export interface RecordedCase {
  readonly one: Pick<Case, "input" | "fragments">;
  /** Of the recorded call. */
  readonly facts: readonly Fact[];
  readonly files: readonly FilePart[];
}

/** Default of `parallel`. */
export const defaultParallel = 4;

const spent = "the dollars are spent";

/** Returns what asks a candidate one case, at most `parallel` at a time, within the dollars of all of them. It rejects on abort alone. */
export function createAsker(candidate: OpenCandidate, options: AskOptions): (asked: RecordedCase) => Promise<Answer> {
  const { parallel = defaultParallel, usd } = options;
  const budget = new SharedBudget(usd, parallel);
  return async (asked) => {
    const share = budget.take();
    if (share === "spent") return { type: "left-out", reason: spent, usd: 0, ms: 0 };
    const answer = await ask(candidate, asked, { ...options, usd: share });
    budget.settle(share, answer.usd);
    return answer;
  };
}

async function ask(
  { program, worker, isCodeAlone }: OpenCandidate,
  { one, facts, files }: RecordedCase,
  { usd, prices, signal, liveReads = false }: AskOptions,
): Promise<Answer> {
  const missing = new Set<string>();
  let unsure: string | undefined;
  const stop = new AbortController();
  let isSpent = false;
  const onEvent = (event: RunEvent) => {
    // Limits of the program itself are lower, or other ones: those are failures of the candidate.
    if (event.type === "limit" && event.limit === "usd" && event.allowed === usd) isSpent = true;
    if (event.type !== "answered-by" || event.by === "code" || event.callPath !== worker.name || !isCodeAlone) return;
    unsure = event.reason ?? "";
    stop.abort();
  };
  const between: RunInterception = {
    start: {
      input: one.input as JsonObject,
      files,
      fragments: one.fragments,
      history: [],
      signal: anySignal(signal, stop.signal),
    },
    answer: (live) =>
      createAnswerer({ live, facts, policy: answeredByContent({ liveReads, onMissing: (tool) => missing.add(tool) }) }),
  };
  const request = {
    ...{ program, approval: { mode: "approve_all" as const }, journal: false, onEvent },
    ...(usd === undefined ? {} : { limits: { usd } }),
    ...(prices ? { prices } : {}),
  };
  const started = nodeClock.monotonic();
  const end = (found: Ending) => toAnswer(found, { missing, isSpent, unsure, ms: nodeClock.monotonic() - started });
  try {
    const { output, usage, stopReason, reason = "" } = await runWith(request, between);
    const cost = dollarsOf(usage);
    return stopReason === "done" ? end({ output, usd: cost, reason: "" }) : end({ output: undefined, usd: cost, reason });
  } catch (thrown) {
    signal?.throwIfAborted();
    const usage = thrown instanceof RunError ? thrown.run?.usage : undefined;
    return end({ output: undefined, reason: errorMessage(thrown), usd: usage ? dollarsOf(usage) : 0 });
  }
}

interface Ending {
  readonly output: JsonValue | undefined;
  readonly reason: string;
  readonly usd: number | undefined;
}

interface Asked {
  /** Tools whose results are not recorded. */
  readonly missing: ReadonlySet<string>;
  readonly isSpent: boolean;
  readonly unsure: string | undefined;
  readonly ms: number;
}

function toAnswer({ output, reason, usd }: Ending, { missing, isSpent, unsure, ms }: Asked): Answer {
  if (missing.size > 0) return { type: "left-out", reason: `not recorded: ${[...missing].join(", ")}`, usd, ms };
  if (isSpent) return { type: "left-out", reason: spent, usd, ms };
  if (output === undefined) return { type: unsure === undefined ? "failed" : "unsure", reason: unsure ?? reason, usd, ms };
  return { type: "output", output, usd, ms };
}
