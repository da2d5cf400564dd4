import { relative, resolve } from "node:path";
import type { ApprovalPolicy } from "../approval/policy.ts";
import { createAnswerer } from "../effects/answerer.ts";
import { conversationOf } from "../effects/conversation.ts";
import { openQuestions } from "../effects/open-questions.ts";
import { type ReadSource, withPlace } from "../effects/place-change.ts";
import { RequestChanged } from "../effects/policies/request-changed.ts";
import { resumed } from "../effects/policies/resumed.ts";
import { createRunState } from "../effects/run-state.ts";
import { voidsOf } from "../effects/voids.ts";
import type { Host } from "../host/host.ts";
import { createNodeHost } from "../host/node-host.ts";
import { describeCodeWorkers } from "../journal/code-workers.ts";
import { readJournalEnds, readRecord } from "../journal/read-journal.ts";
import { placeArtifacts } from "../journal/record.ts";
import { findRecord, type RunReference } from "../journal/stores/find-store.ts";
import { CannotResume } from "../journal/stores/record-place.ts";
import { overPrices, type PriceOverrides, toGivenPrices } from "../models/prices.ts";
import type { Program } from "../program/program.ts";
import type { CompiledWith, Fact, FactOf, ProgramOptions } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Artifact, Message } from "../protocol/message.ts";
import { checkLimits } from "../runtime/bounds/check-limits.ts";
import type { RunSetup } from "../runtime/config.ts";
import { entryName } from "../runtime/create-config.ts";
import { recordedArtifacts } from "../runtime/results/artifacts.ts";
import { rulesOf, runEntry } from "../runtime/run-entry.ts";
import { RunError, type RunErrorCode } from "../runtime/run-error.ts";
import { anySignal } from "../util/async/abortable.ts";
import { environmentSecrets, Redactor, type Secret } from "../util/secrets/redactor.ts";
import { isWithin } from "../util/within.ts";
import { version } from "../version.ts";
import type { CompileRequest, ResumeRequest, RunOutput, RunRequest } from "./requests.ts";

interface ResumedSetup extends Pick<RunSetup, "runId" | "redactor" | "limits"> {
  readonly prices: PriceOverrides;
  readonly onMessage: NonNullable<RunRequest["onMessage"]>;
}

export interface Continuation {
  readonly host: Host;
  readonly request: ResumeRequest;
  readonly secrets: readonly Secret[];
  readonly policy: ApprovalPolicy;
  readonly createSetup: (of: ResumedSetup) => Promise<Omit<RunSetup, "effects">>;
}

/** The conversation of a recorded run, as `readConversation` gives it. */
export interface RecordedConversation extends RunReference {
  /** Default: the machine's. */
  readonly host?: Host;
}

/** Throws the failure of a run that went on. Where the program was changed, the message begins with the line of its file. */
export async function placeFailure(thrown: unknown, readSource: ReadSource): Promise<never> {
  if (thrown instanceof RunError && thrown.cause instanceof RequestChanged)
    thrown.message = await withPlace(thrown.message, thrown.cause, readSource);
  throw thrown;
}

/**
 * Returns the conversation of a recorded run, for `history` of another one: undefined unless its entry is a worker and it ended with an
 * answer. Values of the environment's and the program's secrets are restored. Rejects if the record cannot be read.
 */
export async function readConversation(
  { secrets }: Program,
  { host = createNodeHost(), ...reference }: RecordedConversation,
): Promise<readonly Message[] | undefined> {
  const { store, id } = findRecord(host, reference);
  const { facts } = await store.read(id, [...environmentSecrets(host.environment), ...secrets]);
  return conversationOf(facts);
}

/** Returns the output of a recorded run; undefined unless it came to its end. Rejects as `readOutcome` does. */
export async function readResult(program: Program, reference: RecordedConversation): Promise<RunOutput | undefined> {
  const outcome = await readOutcome(program, reference);
  return outcome instanceof RunError || outcome?.stopReason !== "done" ? undefined : outcome;
}

/**
 * Returns how a recorded run ended: what `run` resolved with, or the `RunError` that it rejected with; undefined for one that has not ended.
 * Secrets are restored as in `readConversation`. Rejects if the record cannot be read, and if what the run wrote was taken back.
 */
export async function readOutcome(
  { secrets }: Pick<Program, "secrets">,
  { host = createNodeHost(), ...reference }: RecordedConversation,
): Promise<RunOutput | RunError | undefined> {
  const { store, id } = findRecord(host, reference);
  return store.look(id, async (record) => {
    const { facts } = await readRecord(record, [...environmentSecrets(host.environment), ...secrets]);
    return outcomeOf(facts, (made) => placeArtifacts(record, made));
  });
}

async function outcomeOf(
  facts: readonly Fact[],
  place: (artifacts: readonly Artifact[]) => Promise<readonly Artifact[]>,
): Promise<RunOutput | RunError | undefined> {
  const end = facts.findLast((fact) => fact.type === "run-end");
  if (!end) return undefined;
  refuseUndone(facts);
  const state = createRunState();
  for (const fact of facts) state.apply(fact);
  const { runId } = startOf(facts);
  const { usage, output = null, stopReason, reason, error } = end;
  const run = { runId, usage, denied: state.denied(), artifacts: await place(recordedArtifacts(facts)) };
  if (stopReason === "done" || stopReason === "limit" || stopReason === "cut")
    return { ...run, output, stopReason, messages: conversationOf(facts) ?? [], ...(reason === undefined ? {} : { reason }) };
  const failure = new RunError((error?.["code"] ?? "failed") as RunErrorCode, String(error?.["message"] ?? stopReason));
  failure.run = { ...run, questions: stopReason === "suspended" ? openQuestions(facts) : [], behind: [] };
  return failure;
}

/** Goes on with a recorded run. Rejects with a `RunError`, or with the reason why it cannot begin. */
export async function continueRun(
  program: Program,
  { host, request, secrets, policy, createSetup }: Continuation,
): Promise<RunOutput> {
  const { takeOver = false, signal } = request;
  const { store, id } = findRecord(host, request);
  const record = await store.open(id, {
    ...{ known: secrets, takeOver },
    createRedactor: (ids) => new Redactor(secrets, ids),
    begin: (recorded) => [beginAttempt(recorded, { program, host, policy, request })],
  });
  const { journal, redactor, facts, times, writes, results, isWhole, lost } = record;
  const { start, terms, changed } = describeRun(facts, program);
  const { runId, history = [] } = start;
  const { input, files, fragments } = start.input;
  const { messages, onMessage } = collectMessages(program, request.onMessage);
  try {
    const setup = await createSetup({ runId, redactor, limits: terms.limits, prices: overPrices(terms.prices), onMessage });
    const effects = createAnswerer({ live: { clock: host.clock, journal }, facts, policy: resumed(times) });
    const result = await runEntry(
      program,
      {
        ...setup,
        effects,
        writes,
        results,
        policy: { ...setup.policy, ...unansweredOf(terms), gateEntry: start.gateEntry === true },
      },
      {
        input: input as JsonObject,
        files,
        fragments,
        history,
        signal: anySignal(signal, lost),
        warnings: isWhole ? changed : [...changed, secretsAreGone],
        artifacts: recordedArtifacts(facts),
        keepArtifacts: record.keepArtifacts,
        closeJournal: () => journal.close(),
      },
    );
    return { ...result, messages: [...history, ...messages] };
  } finally {
    await journal.close();
  }
}

const secretsAreGone =
  "the secrets of this run are gone: they stay hidden in what is recorded, also from models and tools that were given them";

interface AttemptTerms {
  readonly program: Program;
  readonly host: Pick<Host, "processes">;
  readonly policy: ApprovalPolicy;
  /** Its limits and prices hold over the recorded ones. */
  readonly request: Pick<ResumeRequest, "approval" | "limits" | "prices">;
}

/** The fact that begins a continuation of a run. Throws a `CannotResume` if there is nothing to go on with. */
function beginAttempt(facts: readonly Fact[], { program, host, policy, request }: AttemptTerms): FactOf<"attempt"> {
  if (facts.findLast((fact) => fact.type === "run-end")?.stopReason === "done")
    throw new CannotResume("this run has ended: there is nothing to go on with");
  refuseUndone(facts);
  const start = startFor(program, facts);
  const earlier = facts.filter((fact) => fact.type === "attempt");
  const before = earlier.at(-1) ?? start;
  const prices = toGivenPrices(overPrices(before.prices, request.prices));
  return {
    type: "attempt",
    number: earlier.length + 2,
    voids: voidsOf(facts),
    programDigest: program.digest,
    mode: policy.mode,
    onDenied: policy.onDenied ?? "return",
    ...rulesOf(request.approval?.rules),
    ...unansweredOf({ onUnanswered: policy.onUnanswered ?? before.onUnanswered ?? "deny" }),
    limits: checkLimits({ ...before.limits, ...request.limits }),
    ...(prices.length > 0 ? { prices } : {}),
    version,
    owner: host.processes.self,
  };
}

function refuseUndone(facts: readonly Fact[]): void {
  if (facts.some((fact) => fact.type === "undo"))
    throw new CannotResume("what this run wrote was taken back: fork it in place of that");
}

/** A run that holds its questions goes on so, unless it is told to deny them. */
function unansweredOf({ onUnanswered }: Pick<ApprovalPolicy, "onUnanswered">): { readonly onUnanswered?: "hold" } {
  return onUnanswered === "hold" ? { onUnanswered } : {};
}

/** The terms that a fork keeps of a run that goes on: limits, prices, and how its entry and its unanswered questions are treated. */
export function termsOf(
  facts: readonly Fact[],
  { approval, limits, prices }: Pick<RunRequest, "approval" | "limits" | "prices">,
) {
  const start = startOf(facts);
  const terms = facts.findLast((fact) => fact.type === "attempt") ?? start;
  const policy: ApprovalPolicy = { ...unansweredOf(terms), ...approval, gateEntry: start.gateEntry === true };
  return { approval: policy, limits: { ...terms.limits, ...limits }, prices: overPrices(terms.prices, prices) };
}

/** Facts of the run as a whole, by its record. `changed`: warnings that name the files that are not those that the run began with. */
function describeRun(facts: readonly Fact[], { sources }: Program) {
  const start = startOf(facts);
  const terms = facts.findLast((fact) => fact.type === "attempt") ?? start;
  const before = start.files ?? sources;
  // A script that the user named was no file of the program then, and is one where the record names it.
  const { model = "", modelFor = [] } = start.compiled ?? {};
  const isOption = (name: string) => !(name in before) && [model, ...modelFor].some((text) => text.endsWith(`scripted:${name}`));
  const names = [...new Set([...Object.keys(before), ...Object.keys(sources)])].filter(
    (name) => before[name] !== sources[name] && !isOption(name),
  );
  const changed = names.length > 0 ? [`changed since the run began: ${names.sort().join(", ")}`] : [];
  return { start, terms, changed };
}

/**
 * Returns the start of a recorded run that this program can go on with. Calls are known by their paths, which begin with the entry's name: under
 * another one all would be made again. Throws a `CannotResume`.
 */
export function startFor(program: Program, facts: readonly Fact[]): FactOf<"run-start"> {
  const start = startOf(facts);
  const entry = entryName(program);
  if (entry === start.entry) return start;
  throw new CannotResume(
    `this run began with \`${start.entry}\`, and this program begins with \`${entry}\`: go on with the same entry`,
  );
}

function startOf([start]: readonly Fact[]): FactOf<"run-start"> {
  if (start?.type === "run-start") return start;
  throw new CannotResume("nothing is recorded of this run: it ended before it began");
}

/** The options to compile a program again as it was. */
export function describeCompilation(
  { root, entry }: Program,
  { ofProgram = {}, ...request }: CompileRequest & { readonly ofProgram?: ProgramOptions },
  { workingDirectory }: Host,
): CompiledWith {
  const { files, workers, entry: written } = request;
  const inside = (path: string) => relative(root, resolve(workingDirectory, path)).replaceAll("\\", "/");
  // Options were relative to the working directory, and are read again as the program's.
  const moved = (text: string) =>
    text.replace(/^((?:[^=]*=)?scripted:)(.+)$/is, (_, before: string, path: string) => {
      const place = resolve(workingDirectory, path);
      return `${before}${isWithin(place, root) ? inside(place) : place}`;
    });
  const model = request.model === undefined ? ofProgram.model : moved(request.model);
  const [set, modelFor] = (["set", "modelFor"] as const).map((key) => [
    ...(ofProgram[key] ?? []),
    ...(request[key] ?? []).map(moved),
  ]);
  return {
    target: entry.kind === "worker" ? `${entry.worker.id}.worker` : ".",
    ...(files ? { files: files.map(inside) } : {}),
    ...(workers ? { workers: workers.map(({ name }) => name) } : {}),
    ...(entry.kind === "code" && written !== undefined ? { entry: written } : {}),
    ...(model === undefined ? {} : { model }),
    ...(set?.length ? { set } : {}),
    ...(modelFor?.length ? { modelFor } : {}),
    ...(ofProgram.checks === false ? { checks: false } : {}),
  };
}

/** The part of a request that says which program is compiled, and options below the request's own. */
export interface RecordedSource {
  readonly source: Pick<CompileRequest, "target" | "files" | "entry">;
  readonly ofProgram: ProgramOptions;
}

/**
 * Returns the sources of a recorded run: files in the program's folder, as its store knows it. Undefined if the record does not
 * say it. Rejects with a `CannotResume` if it names a file outside of that folder, and for workers in code that are not `given`.
 */
export async function recordedSource(
  host: Host,
  reference: RunReference,
  given?: CompileRequest["workers"],
): Promise<RecordedSource | undefined> {
  const { store, id } = findRecord(host, reference);
  const { first } = await store.look(id, readJournalEnds);
  if (first?.type !== "run-start" || !first.compiled) return undefined;
  for await (const { root } of store.list({ id })) {
    const { target, files, workers, entry, ...ofProgram } = first.compiled;
    if (workers && !given) throw new CannotResume(describeCodeWorkers(id, workers));
    const paths = (files ?? [target]).map((path) => resolve(root, path));
    const realPath = (path: string) => host.files.realPath(path).catch(() => path);
    for (const path of paths)
      if (!isWithin(path, root) || !isWithin(await realPath(path), await realPath(root)))
        throw new CannotResume(`the record of ${id} names ${path}, which is not in the program's folder ${root}`);
    const [only] = paths;
    const source = { ...(files ? { files: paths } : { target: only ?? root }), ...(entry === undefined ? {} : { entry }) };
    return { source, ofProgram };
  }
  return undefined;
}

/** The conversation of the entry, if it is a worker. */
export function collectMessages({ entry }: Program, listener: RunRequest["onMessage"]) {
  const messages: Message[] = [];
  const onMessage: NonNullable<RunRequest["onMessage"]> = (callPath, message) => {
    if (entry.kind === "worker" && callPath === entry.worker.name) messages.push(message);
    listener?.(callPath, message);
  };
  return { messages, onMessage };
}
