import { join } from "node:path";
import type { ApprovalPolicy } from "../approval/policy.ts";
import { type Compiled, diagnoseMentions } from "../compile/compile.ts";
import { positionAt } from "../diagnostics/position.ts";
import type { Span } from "../diagnostics/source.ts";
import { createAnswerer } from "../effects/answerer.ts";
import { createRecordingFilter, type RunsForReal, recorded } from "../effects/policies/recorded.ts";
import { type RunInterception, runWith } from "../front/llm-do.ts";
import type { TestCaseSyntax } from "../language/shapes/test-shape.ts";
import type { Program } from "../program/program.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { isRecord } from "../protocol/json.ts";
import { addUsage, type Limits, noUsage, type Usage } from "../protocol/usage.ts";
import { RunError, type RunErrorCode } from "../runtime/run-error.ts";
import { errorMessage } from "../util/text/error-message.ts";
import {
  checkExpectations,
  describeDenied,
  describeEmptied,
  digestFiles,
  type Failure,
  mentionsOf,
} from "./check-expectations.ts";
import { noteMisses } from "./misses.ts";
import { type Observation, Observer } from "./observation.ts";
import { type RunOfCase, writeRecording } from "./recording.ts";
import { folderName, folderToken, ScratchCase, type ScratchRequest } from "./scratch-case.ts";

export interface CaseRequest extends ScratchRequest {
  /** Resolves with a compiled part of the case as it may run. Rejects if it could do more than it is trusted with. */
  readonly permit: (scratch: ScratchCase, part: RunOfCase) => Promise<Compiled>;
  /** The most dollars of the run and its judge. */
  readonly usd: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** One run of a case. It passed where nothing failed. */
export interface CaseRun {
  readonly failures: readonly Failure[];
  /** The judge's included. */
  readonly usage: Usage;
  readonly turns: number;
  readonly milliseconds: number;
  readonly score?: number;
  /** Calls that were denied by default, of which the case says nothing. */
  readonly notes?: readonly string[];
  /** Present if it failed before any model was asked, by a mistake in what it was begun with. */
  readonly isMistake?: true;
  /** Absolute path of the folder with the copy and its records, where it is kept. */
  readonly kept?: string;
}

/** Runs a case once in a scratch copy of its program, and removes that unless it is kept. Rejects if the copy cannot be made, or on abort. */
export async function runCase(request: CaseRequest): Promise<CaseRun> {
  const scratch = await ScratchCase.open(request);
  try {
    const run = await new CaseInScratch(request, scratch).run();
    return request.keep ? { ...run, kept: scratch.parent } : run;
  } finally {
    if (!request.keep) await scratch.remove();
  }
}

interface PartRun {
  readonly seen: Observation;
  /** True if the program did not compile, or could not begin. */
  readonly isMistake: boolean;
  readonly misses: readonly string[];
  /** Words of the case about tools that the program does not have. */
  readonly withoutEffect: readonly string[];
}

/** A case on its way through one scratch copy. */
class CaseInScratch {
  readonly #request: CaseRequest;
  readonly #scratch: ScratchCase;
  readonly #recorded: Record<RunOfCase, Fact[]> = { case: [], judge: [] };

  constructor(request: CaseRequest, scratch: ScratchCase) {
    this.#request = request;
    this.#scratch = scratch;
  }

  async run(): Promise<CaseRun> {
    const { suite, testCase, mode, host } = this.#request;
    const { expect = {}, input, recording } = testCase;
    const { folder, answers } = this.#scratch;
    const path = recording && join(suite.folder, recording.value);
    if (mode === "recording" && !answers)
      return nothingRun("recording", `there is none at ${recording?.value}; --record makes it`);
    const before = expect.files ? await digestFiles(host, folder) : new Map<string, string>();
    const { seen, misses, isMistake, withoutEffect } = await this.#play("case", input?.value);
    // Failures after a miss only follow from it.
    const missed = misses.map((message) => ({ expectation: mode, message }));
    const held = misses.length > 0 ? [] : await checkExpectations(expect, { host, folder, before, seen });
    const hasAnswer = misses.length === 0 && seen.output !== undefined;
    const judged = expect.judge && hasAnswer ? await this.#judge(expect.judge, seen.output) : undefined;
    const vain = withoutEffect.map((message) => ({ expectation: "test", message }));
    const failures = [...vain, ...missed, ...held, ...(judged?.failures ?? [])];
    if (mode === "record" && path !== undefined && seen.output !== undefined) {
      const model = (this.#scratch.chosen ?? this.#scratch.model)?.replace(folder, folderToken);
      await writeRecording(host, path, { ...(model === undefined ? {} : { model }), facts: this.#recorded });
    }
    const { turns, milliseconds, usage } = seen;
    const notes = [...describeDenied(testCase, seen), ...describeEmptied(this.#scratch.emptied)];
    const score = judged?.score === undefined ? {} : { score: judged.score };
    // A failure that the case expects is none.
    const mistaken = isMistake && failures.length > 0 ? { isMistake } : {};
    return { failures, turns, milliseconds, usage: judged ? addUsage(usage, judged.usage) : usage, ...score, ...mistaken, notes };
  }

  async #play(part: RunOfCase, input: JsonValue | undefined): Promise<PartRun> {
    const { testCase, suite, usd, signal, keep = false } = this.#request;
    const { host } = this.#scratch;
    const observer = new Observer();
    const misses: string[] = [];
    const withoutEffect: string[] = [];
    const started = host.clock.monotonic();
    const end = (more: Partial<Observation>, isMistake = false): PartRun => {
      const { calls, asked, refused, succeeded, turns, usage, stop } = observer;
      const milliseconds = host.clock.monotonic() - started;
      const seen = { calls, asked, refused, succeeded, turns, usage, stop, milliseconds, ...more };
      return { seen, misses, isMistake: isMistake || withoutEffect.length > 0, withoutEffect };
    };
    const { program, diagnostics } = await this.#request.permit(this.#scratch, part);
    if (!program) {
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      return end({ error: errors.map(({ code, message }) => `${message} [${code}]`).join("; ") }, true);
    }
    if (part === "case") withoutEffect.push(...describeMentions(program, testCase));
    const limits: Limits = { ...testCase.limits, ...(usd === undefined ? {} : { usd }) };
    const attachments = (part === "case" ? (testCase.attachments ?? []) : []).map(({ value }) => ({
      path: join(suite.folder, value),
    }));
    try {
      const { output, stopReason } = await runWith(
        {
          ...{ program, limits, attachments, onEvent: observer.onEvent, approval: this.#policy(observer) },
          ...(keep ? { journal: true, store: this.#scratch.store } : { journal: false }),
          ...(input === undefined ? {} : { input: input as JsonObject | string }),
          ...(signal ? { signal } : {}),
        },
        this.#between(program, { part, misses }),
      );
      return end({ output, stop: stopReason });
    } catch (thrown) {
      signal?.throwIfAborted();
      const stop = thrown instanceof RunError && thrown.code === "denied" ? "denied" : "failed";
      const isInput = thrown instanceof RunError && thrown.code === "input_invalid" && part === "case";
      const isMistake = observer.turns === 0 && (!(thrown instanceof RunError) || mistakes.has(thrown.code));
      return end({ stop, error: `${isInput ? placeOf(testCase.input) : ""}${errorMessage(thrown)}` }, isMistake);
    }
  }

  /** Questions are answered at once, and counted. A recording can hold the words of a denial. */
  #policy(observer: Observer): ApprovalPolicy {
    const { approve = [] } = this.#request.testCase;
    if (approve === "all") return { mode: "approve_all" };
    const known = this.#scratch.answers?.facts.case ?? [];
    const notes = new Map(known.flatMap((fact) => (fact.type === "decision" ? [[fact.callPath, fact.decision.note]] : [])));
    const rules = approve.map(({ value: rule }) => ({ effect: "allow" as const, rule, source: "approve" }));
    return {
      mode: "prompt",
      rules,
      approver: async ({ worker, tool, args, callPath }) => {
        observer.asked.push({ worker, tool, args });
        const note = notes.get(callPath);
        return { type: "deny", ...(note === undefined ? {} : { note }) };
      },
    };
  }

  #between(program: Program, { part, misses }: { readonly part: RunOfCase; readonly misses: string[] }): RunInterception {
    const { mode, testCase } = this.#request;
    const runsForReal = testCase.tools === "real" ? () => true : fileToolsOf(program);
    const choose = createRecordingFilter(runsForReal);
    const keep = (fact: Fact): void => {
      const chosen = choose(fact);
      if (chosen) this.#recorded[part].push(chosen);
    };
    return {
      secrets: [{ name: folderName, value: this.#scratch.folder }],
      ...(mode === "record" ? { onFact: keep } : {}),
      answer: (live, redact) => {
        const recording = this.#scratch.answers?.facts[part].map((fact) => this.#restoreFolder(fact));
        const known = recording ? { facts: recording, policy: recorded({ runsForReal, redact }) } : {};
        const readSource = (path: string) => this.#request.host.files.readText(join(program.root, path));
        return noteMisses(createAnswerer({ live, ...known }), misses, readSource);
      },
    };
  }

  /** Puts the path of today's copy into a recorded outcome. Requests are compared by the name that stands for it. */
  #restoreFolder(fact: Fact): Fact {
    if (fact.type !== "result") return fact;
    const path = JSON.stringify(this.#scratch.folder).slice(1, -1);
    return JSON.parse(JSON.stringify(fact).replaceAll(folderToken, path)) as Fact;
  }

  async #judge(judge: Judge, output: JsonValue): Promise<Judgement> {
    const { mode } = this.#request;
    const input = typeof output === "string" ? output : JSON.stringify(output);
    const { seen, misses } = await this.#play("judge", input);
    const answer = isRecord(seen.output) ? seen.output["score"] : seen.output;
    const score = typeof answer === "string" && answer.trim() !== "" ? Number(answer) : answer;
    const found = misses.map((message) => ({ expectation: mode, message }));
    if (typeof score !== "number" || Number.isNaN(score)) {
      const why = seen.error ?? `its answer is ${JSON.stringify(seen.output)}: a number, or a field \`score\`, is wanted`;
      return { usage: seen.usage, failures: [...found, { expectation: "judge", message: `gave no score: ${why}` }] };
    }
    const low = score < judge.at_least ? [{ expectation: "judge", message: `gave ${score}, less than ${judge.at_least}` }] : [];
    return { usage: seen.usage, score, failures: [...found, ...low] };
  }
}

/** Failures before the first request that are the fault of what the run was begun with. */
const mistakes: ReadonlySet<RunErrorCode> = new Set(["configuration", "input_invalid", "authentication"]);

type Judge = NonNullable<NonNullable<TestCaseSyntax["expect"]>["judge"]>;

type Judgement = Pick<CaseRun, "usage" | "score" | "failures">;

/** `main.test.yaml:4: `; empty without a place. */
function placeOf(written: { readonly span?: Span | undefined } | undefined): string {
  const { span } = written ?? {};
  return span ? `${span.source.name}:${positionAt(span.source, span.start).line}: ` : "";
}

/** Names and rules of the case that fit nothing of the program, so that they would hold whatever it does. */
function describeMentions(program: Program, testCase: TestCaseSyntax): readonly string[] {
  return diagnoseMentions(program, mentionsOf(testCase)).map(
    ({ message, span, notes }) => `${placeOf({ span })}${[message, ...notes.map((note) => note.message)].join("; ")}`,
  );
}

function nothingRun(expectation: string, message: string): CaseRun {
  return { failures: [{ expectation, message }], turns: 0, milliseconds: 0, usage: noUsage };
}

/** The tools that read and write files of the scratch copy: those run for real beside a recording. */
function fileToolsOf({ workers }: Program): RunsForReal {
  const all = [...workers.values()].flatMap(({ toolsets }) => toolsets);
  const names = all
    .filter(({ toolset }) => toolset.name === "filesystem")
    .flatMap(({ tools, prefix }) => tools.map(({ name }) => (prefix === undefined ? name : `${prefix}_${name}`)));
  const known = new Set(names);
  return (tool) => known.has(tool);
}
