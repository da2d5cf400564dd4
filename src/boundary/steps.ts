import type { Host } from "../host/host.ts";
import type { RunStore } from "../journal/stores/store.ts";
import type { PriceOverrides } from "../models/prices.ts";
import type { Provider } from "../models/provider.ts";
import type { CallsQuery } from "./calls/read-calls.ts";
import type { RecordedCall } from "./calls/recorded-calls.ts";
import type { Draft } from "./drafts/draft-function.ts";
import type { StepFigures } from "./step-figures.ts";

/** A worker of a program, and the store with its recorded calls. */
export interface StepRequest {
  /** The worker's name. */
  readonly step: string;
  /** A folder, or a `.worker` file, relative to the working directory. Default: the working directory. */
  readonly target?: string;
  /** The path of a store's folder, or a store. Default: `LLM_DO_STORE`, or else the user's own. */
  readonly store?: string | RunStore;
  /** Default: this machine. */
  readonly host?: Host;
}

export interface CallsRequest extends StepRequest, Omit<CallsQuery, "worker" | "program"> {}

export interface CasesRequest extends StepRequest {
  /** The path of a case file. Default: the recorded calls. */
  readonly cases?: string;
  /** The most recorded calls, the newest first. Default: 200. */
  readonly last?: number;
  /** The most cases. */
  readonly limit?: number;
  /** Asks the prompt of today, too: its agreement with what it answered before is the noise floor. */
  readonly again?: boolean;
  /** A worker file that says whether two outputs mean the same. */
  readonly judge?: string;
  /** How far numbers may be apart, by their path. */
  readonly within?: Readonly<Record<string, number>>;
  /** The most cases that are asked at the same time. Default: 4. */
  readonly parallel?: number;
  /** The most dollars of each candidate. Default: no limit. */
  readonly usd?: number;
  /** Tools without side effects that the record does not answer run. Default: their case is left out. */
  readonly liveReads?: boolean;
  /** The model of workers that name none. */
  readonly model?: string;
  /** The program's code may run. Default: false, and candidates of a program with code reject with `UntrustedProgram`. */
  readonly trust?: boolean;
  readonly providers?: readonly Provider[];
  readonly prices?: PriceOverrides;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface ComparisonRequest extends CasesRequest {
  /** `tools.ts:NAME`, `FILE.worker`, `model:PROVIDER:NAME` or `git:REVISION`, as often as wanted. Default: none, for `again` alone. */
  readonly with?: readonly string[];
}

/** With `again` the function is held to today's prompt, and without it to the record; it never answers where it is worse. */
export interface StabiliseRequest extends CasesRequest {
  /** The function: `tools.ts:NAME`. Required without `draft`. */
  readonly with?: string;
  /** A model writes the function, from a part of the calls: that of `model`, or else the worker's own. Default: false. */
  readonly draft?: boolean;
  /** With `draft`: the most drafts. Default: 5. */
  readonly rounds?: number;
  /** The lowest acceptable lower end of the interval of an agreement: that of the function, and of the prompt with itself. Default: 0.9. */
  readonly atLeast?: number;
  /** The share of the code's answers that the prompt answers, too. Default: 0.05. */
  readonly check?: number;
  /**
   * Called with the figures, and what a model wrote, where these allow the function to answer; false leaves all files as they are. Default:
   * they are written.
   */
  readonly confirm?: (figures: StepFigures, draft?: Draft) => boolean | Promise<boolean>;
}

export interface StabiliseReport {
  /** Absent if too few calls are recorded. */
  readonly figures?: StepFigures;
  /** Why the function may not answer. Absent if it may. */
  readonly obstacle?: string;
  /** With `draft`: what the model wrote. */
  readonly draft?: Draft;
  /** `unchanged`: the file has these lines already. `declined`: there is an obstacle, or `confirm` said no. */
  readonly file: "written" | "unchanged" | "declined";
}

/** Yields the recorded calls of a worker, newest first, as `llm-do calls` does. Rejects with a `TypeError` for an option that is none. */
export async function* calls(request: CallsRequest): AsyncGenerator<RecordedCall, void> {
  // Loaded by those alone who count: tools import the public names, too.
  const { callsOfStep } = await import("./count-step.ts");
  yield* callsOfStep(request);
}

/**
 * Has candidates answer what a worker was asked, in copies of the program, with the figures of `llm-do compare --json`. Rejects with an
 * `Error` that says why there is nothing to compare, with a `CompileError`, and with an `UntrustedProgram`.
 */
export async function compare(request: ComparisonRequest): Promise<StepFigures> {
  const { compareFigures } = await import("./count-step.ts");
  return compareFigures(request);
}

/** Lets a function answer a worker first where its figures allow it, as `llm-do stabilise --yes` does. Rejects as `compare` does. */
export async function stabilise(request: StabiliseRequest): Promise<StabiliseReport> {
  const { stabiliseStep } = await import("./count-step.ts");
  return stabiliseStep(request);
}

export interface SoftenRequest extends Omit<StepRequest, "step"> {
  /** `tools.ts:NAME`. */
  readonly tool: string;
  /** The program's code may run: without it `soften` rejects with an `UntrustedProgram`. */
  readonly trust?: boolean;
  readonly providers?: readonly Provider[];
  /** Called with what would be written; false writes nothing. Default: it is written. */
  readonly confirm?: (report: Omit<SoftenReport, "file">) => boolean | Promise<boolean>;
}

/** Paths are relative to the program's folder. */
export interface SoftenReport {
  /** The file of the worker that takes the tool's name. */
  readonly worker: string;
  /** The texts of new files: the worker and, if calls of the tool are recorded, its cases. */
  readonly files: Readonly<Record<string, string>>;
  /** Worker files that name the tool, and whose text changes to keep its approval. */
  readonly changes: readonly { readonly file: string; readonly before: string; readonly after: string }[];
  /** `declined`: `confirm` said no. */
  readonly file: "written" | "declined";
}

/**
 * Puts a tool behind a worker of its name, as `llm-do soften --yes` does. Rejects with an `Error` that says why it cannot be, with a
 * `CompileError`, and with an `UntrustedProgram`.
 */
export async function soften(request: SoftenRequest): Promise<SoftenReport> {
  const { softenInProgram } = await import("./count-step.ts");
  return softenInProgram(request);
}
