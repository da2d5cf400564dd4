import { join, relative, resolve } from "node:path";
import type { ApprovalPolicy } from "../approval/policy.ts";
import { createRecordedEffects, createRecordingFilter, type RunsForReal } from "../effects/recorded.ts";
import type { Host } from "../host/host.ts";
import { copyInto, createScratchFolder, type ScratchFolder } from "../host/scratch-folder.ts";
import type { TestCaseSyntax } from "../language/test-shape.ts";
import { type CompileRequest, compile, type RunInterception, runWith } from "../llm-do.ts";
import type { Provider } from "../models/provider.ts";
import type { Program } from "../program/program.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { isRecord } from "../protocol/json.ts";
import { addUsage, type Limits, noUsage, type Usage } from "../protocol/usage.ts";
import { RunError } from "../runtime/run-error.ts";
import { errorMessage } from "../util/error-message.ts";
import { isWithin } from "../util/within.ts";
import { checkExpectations, digestFiles, type Failure } from "./check-expectations.ts";
import { noteMisses } from "./misses.ts";
import { type Observation, Observer } from "./observation.ts";
import { type Recording, type RunOfCase, readRecording, writeRecording } from "./recording.ts";
import type { TestSuite } from "./test-suite.ts";

/** The source of the model's answers. `record`: as `live`, and the answers are kept. */
export type CaseMode = "script" | "recording" | "live" | "record";

export interface CaseRequest {
  readonly suite: TestSuite;
  readonly testCase: TestCaseSyntax;
  readonly mode: CaseMode;
  /** Absolute path of the program's folder. Its code is trusted. */
  readonly root: string;
  /** Scopes of the program that lie beyond its folder. Those that the case gives no folder are empty. */
  readonly outside: readonly string[];
  readonly host: Host;
  readonly providers: readonly Provider[];
  /** Over the case's, where a model is asked. */
  readonly model: string | undefined;
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
}

/** Runs a case once in a scratch copy of its program, and removes that. Rejects where the copy cannot be made, or on abort. */
export async function runCase(request: CaseRequest): Promise<CaseRun> {
  const { suite, testCase, root, host } = request;
  const without = (testCase.without ?? []).map((path) => relative(root, join(suite.folder, path)));
  const scratch = await createScratchFolder(root, without);
  try {
    return await new CaseInScratch(request, scratch).run();
  } finally {
    await host.files.remove(scratch.parent);
  }
}

/** The name by which requests and recordings hold the path of the scratch copy. */
const folderName = "FOLDER";
const folderToken = `⟦secret:${folderName}⟧`;
const scripted = "scripted:";

interface Part {
  readonly run: RunOfCase;
  /** Absolute path in the program's own folder. */
  readonly target: string;
  /** Relative to the test file. */
  readonly script: string | undefined;
  readonly input: JsonValue | undefined;
}

interface PartRun {
  readonly seen: Observation;
  readonly misses: readonly string[];
}

/** A case on its way through one scratch copy. */
class CaseInScratch {
  readonly #request: CaseRequest;
  readonly #scratch: ScratchFolder;
  readonly #host: Host;
  readonly #scopes: Record<string, string> = {};
  readonly #recorded: Record<RunOfCase, Fact[]> = { case: [], judge: [] };

  constructor(request: CaseRequest, scratch: ScratchFolder) {
    this.#request = request;
    this.#scratch = scratch;
    const { host, testCase, mode } = request;
    const expand = (value: string) => value.replaceAll(`\${${folderName}}`, scratch.path);
    const variables = Object.entries(testCase.env ?? {}).map(([name, value]) => [name, expand(value)] as const);
    // Keys and logins of the user are needed where a model is asked, and only there.
    const isAsked = mode === "live" || mode === "record";
    this.#host = {
      ...host,
      workingDirectory: scratch.path,
      ...(isAsked ? {} : { stateDirectory: join(scratch.parent, "state") }),
      environment: { ...host.environment, ...Object.fromEntries(variables) },
    };
  }

  async run(): Promise<CaseRun> {
    const { suite, testCase, mode, host } = this.#request;
    const { expect = {}, script, input, recording } = testCase;
    const folder = this.#scratch.path;
    await this.#putFiles();
    await this.#putScopes();
    const path = recording && join(suite.folder, recording.value);
    const answers = mode === "recording" && path !== undefined ? await readRecording(host, path) : undefined;
    if (mode === "recording" && !answers)
      return nothingRun("recording", `there is none at ${recording?.value}; --record makes it`);
    const before = expect.files ? await digestFiles(host, folder) : new Map<string, string>();
    const { seen, misses } = await this.#play({ run: "case", target: suite.target, script: script?.value, input }, answers);
    // Failures after a miss only follow from it.
    const missed = misses.map((message) => ({ expectation: mode, message }));
    const held = misses.length > 0 ? [] : await checkExpectations(expect, { host, folder, before, seen });
    const hasAnswer = misses.length === 0 && seen.output !== undefined;
    const judged = expect.judge && hasAnswer ? await this.#judge(expect.judge, seen.output, answers) : undefined;
    const failures = [...missed, ...held, ...(judged?.failures ?? [])];
    if (mode === "record" && path !== undefined && seen.output !== undefined) {
      const model = this.#modelOf(undefined)?.replace(folder, folderToken);
      await writeRecording(host, path, { ...(model === undefined ? {} : { model }), facts: this.#recorded });
    }
    const { turns, milliseconds, usage } = seen;
    const score = judged?.score === undefined ? {} : { score: judged.score };
    return { failures, turns, milliseconds, usage: judged ? addUsage(usage, judged.usage) : usage, ...score };
  }

  async #putFiles(): Promise<void> {
    const { suite, testCase, host } = this.#request;
    for (const [name, source] of Object.entries(testCase.files ?? {})) {
      const to = join(this.#scratch.path, name);
      if (!isWithin(to, this.#scratch.path)) throw new Error(`files: ${name} is not in the program's folder`);
      await host.files.makeDirectory(join(to, ".."));
      if ("text" in source) await host.files.writeAtomically(to, source.text);
      else await copyInto(join(suite.folder, source.from.value), to);
    }
  }

  /** The path in the scratch copy of a file of the program; a file beyond the program's folder is used where it is. */
  /** Folders of the scratch copy that stand for scopes, by their names. */
  async #putScopes(): Promise<void> {
    const { suite, testCase, outside, host } = this.#request;
    const { scopes = {} } = testCase;
    for (const name of new Set([...outside, ...Object.keys(scopes)])) {
      const folder = join(this.#scratch.parent, "scopes", name);
      const from = scopes[name];
      if (from) await copyInto(join(suite.folder, from.value), folder);
      else await host.files.makeDirectory(folder);
      this.#scopes[name] = folder;
    }
  }

  #inScratch(path: string): string {
    const { root } = this.#request;
    return isWithin(path, root) ? join(this.#scratch.path, relative(root, path)) : path;
  }

  /** A script that is named as a model is played in the copy where it is recorded, so that the recording fits every copy. */
  #modelOf(answers: Recording | undefined): string | undefined {
    const { testCase, suite, host, model, mode } = this.#request;
    const named = model ?? testCase.model;
    if (named === undefined) return answers?.model?.replace(folderToken, this.#scratch.path);
    if (!named.startsWith(scripted)) return named;
    const path = resolve(model === undefined ? suite.folder : host.workingDirectory, named.slice(scripted.length));
    return `${scripted}${mode === "live" ? path : this.#inScratch(path)}`;
  }

  #compileRequest({ run, target, script }: Part, answers: Recording | undefined): CompileRequest {
    const { testCase, providers, suite, mode } = this.#request;
    const { entry, set } = testCase;
    const own = run === "case" ? { ...(entry === undefined ? {} : { entry }), ...(set ? { set } : {}) } : {};
    const played =
      mode === "script" && script !== undefined ? `${scripted}${this.#inScratch(join(suite.folder, script))}` : undefined;
    const model = played ?? this.#modelOf(answers);
    return {
      ...own,
      target: this.#inScratch(target),
      ...(Object.keys(this.#scopes).length > 0 ? { scopes: this.#scopes } : {}),
      ...(model === undefined ? {} : { model }),
      ...(played === undefined ? {} : { modelFor: [`*=${played}`] }),
      ...{ host: this.#host, providers, trust: true, toRun: true },
    };
  }

  async #play(part: Part, answers: Recording | undefined): Promise<PartRun> {
    const { testCase, suite, usd, signal } = this.#request;
    const observer = new Observer();
    const misses: string[] = [];
    const started = this.#host.clock.monotonic();
    const end = (more: Partial<Observation>): PartRun => {
      const { calls, asked, refused, turns, usage, stop } = observer;
      const milliseconds = this.#host.clock.monotonic() - started;
      return { seen: { calls, asked, refused, turns, usage, stop, milliseconds, ...more }, misses };
    };
    const { program, diagnostics } = await compile(this.#compileRequest(part, answers));
    if (!program) {
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      return end({ error: errors.map(({ code, message }) => `${message} [${code}]`).join("; ") });
    }
    const limits: Limits = { ...testCase.limits, ...(usd === undefined ? {} : { usd }) };
    const attachments = (part.run === "case" ? (testCase.attachments ?? []) : []).map(({ value }) => ({
      path: join(suite.folder, value),
    }));
    try {
      const { output, stopReason } = await runWith(
        {
          ...{ program, limits, attachments, journal: false, onEvent: observer.onEvent, approval: this.#policy(observer) },
          ...(part.input === undefined ? {} : { input: part.input as JsonObject | string }),
          ...(signal ? { signal } : {}),
        },
        this.#between(program, { part, answers, misses }),
      );
      return end({ output, stop: stopReason });
    } catch (thrown) {
      signal?.throwIfAborted();
      const stop = thrown instanceof RunError && thrown.code === "denied" ? "denied" : "failed";
      return end({ stop, error: errorMessage(thrown) });
    }
  }

  /** Questions are answered at once, and counted. */
  #policy(observer: Observer): ApprovalPolicy {
    const { approve = [] } = this.#request.testCase;
    const rules = approve === "all" ? [] : approve.map((rule) => ({ effect: "allow" as const, rule, source: "approve" }));
    return {
      mode: "prompt",
      rules,
      approver: async ({ worker, tool, args }) => {
        observer.asked.push({ worker, tool, args });
        return { type: approve === "all" ? "approve" : "deny" };
      },
    };
  }

  #between(
    program: Program,
    { part, answers, misses }: { readonly part: Part; readonly answers: Recording | undefined; readonly misses: string[] },
  ): RunInterception {
    const { mode, testCase } = this.#request;
    const runsForReal = testCase.tools === "real" ? () => true : fileToolsOf(program);
    const choose = createRecordingFilter(runsForReal);
    const keep = (fact: Fact): void => {
      const chosen = choose(fact);
      if (chosen) this.#recorded[part.run].push(chosen);
    };
    return {
      secrets: [{ name: folderName, value: this.#scratch.path }],
      ...(mode === "record" ? { onFact: keep } : {}),
      answer: (live, redact) => {
        const recording = answers?.facts[part.run].map((fact) => this.#restoreFolder(fact));
        return noteMisses(recording ? createRecordedEffects({ live, recording, runsForReal, redact }) : live, misses);
      },
    };
  }

  /** Puts the path of today's copy into a recorded outcome. Requests are compared by the name that stands for it. */
  #restoreFolder(fact: Fact): Fact {
    if (fact.type !== "result") return fact;
    const path = JSON.stringify(this.#scratch.path).slice(1, -1);
    return JSON.parse(JSON.stringify(fact).replaceAll(folderToken, path)) as Fact;
  }

  async #judge(judge: Judge, output: JsonValue, answers: Recording | undefined): Promise<Judgement> {
    const { suite, mode } = this.#request;
    const input = typeof output === "string" ? output : JSON.stringify(output);
    const part: Part = { run: "judge", target: join(suite.folder, judge.worker.value), script: judge.script?.value, input };
    const { seen, misses } = await this.#play(part, answers);
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

type Judge = NonNullable<NonNullable<TestCaseSyntax["expect"]>["judge"]>;

interface Judgement {
  readonly usage: Usage;
  readonly score?: number;
  readonly failures: readonly Failure[];
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
