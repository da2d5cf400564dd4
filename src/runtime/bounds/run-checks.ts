import { createGate } from "../../approval/gate.ts";
import { checkKey } from "../../effects/keys.ts";
import type { CodeAnswer } from "../../effects/state/code-answers.ts";
import { JournalError } from "../../journal/journal.ts";
import type { CodeCheck } from "../../program/program.ts";
import { type CallPath, checkCallPath, comparePaths, isInCheck } from "../../protocol/call.ts";
import type { FactOf } from "../../protocol/fact.ts";
import { agrees, compareOutputs } from "../../schema/agreement.ts";
import { sha256 } from "../../util/sha256.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { CallRequest, RuntimeConfig, WorkerInput } from "../config.ts";
import { ServerToolGrants } from "../connect/server-tool-grants.ts";
import { endsRun } from "../to-run-error.ts";
import { amountOf, Budget } from "./budget.ts";
import { findUnpricedBelow } from "./require-prices.ts";

/**
 * Decides whether the prompt answers a call, too, which code has answered: by the id of the run and the path of the call, so that a replay
 * decides the same and no input can. A call within a check is never chosen.
 */
export function isChecked({ runId }: Pick<RuntimeConfig, "runId">, callPath: CallPath, { share }: CodeCheck): boolean {
  if (isInCheck(callPath)) return false;
  return Number.parseInt(sha256(`${runId}\n${callPath}`).slice(0, 12), 16) / 2 ** 48 < share;
}

/**
 * Has the prompt answer what code has answered in this run, one call after another, and records how the two agree. Nothing is granted to
 * it: a call that asks is denied, and one that may change something is blocked. Called when the work of the run is done; a check that fails
 * fails nothing. Rejects if the journal cannot be written.
 */
export async function runChecks(request: CallRequest): Promise<void> {
  const { run } = request;
  const answers = run.effects.state.codeAnswers();
  if (answers.length === 0) return;
  const isDenied = run.effects.state.denied().length > 0;
  const config = withoutGrants(run);
  const budgets = new Map<string, Budget>();
  for (const answer of [...answers].sort((one, other) => comparePaths(one.start.callPath, other.start.callPath))) {
    const key = { callPath: answer.start.callPath, key: checkKey };
    const recorded = run.effects.recall("checked", key);
    const isKnown =
      recorded?.skipped !== undefined && !run.effects.recall("call-start", { callPath: checkCallPath(key.callPath) });
    const checked = isKnown ? recorded : await check({ ...request, run: config }, answer, { isDenied, budgets });
    const { type, callPath: _, key: __, ...body } = checked;
    run.effects.record({ type, ...key, ...body });
    run.emit({ callPath: key.callPath, depth: answer.start.depth }, { type, ...body });
  }
}

interface Checking {
  /** Something was denied in the run. */
  readonly isDenied: boolean;
  /** By the id of the worker. */
  readonly budgets: Map<string, Budget>;
}

async function check(request: CallRequest, answer: CodeAnswer, checking: Checking): Promise<FactOf<"checked">> {
  const { run, signal } = request;
  const { id, start } = answer;
  const worker = run.program.workers.get(id);
  const fact = { type: "checked", callPath: start.callPath, key: checkKey, worker: start.name } as const;
  const skipped = (reason: string) => ({ ...fact, skipped: run.redactor.text(reason) });
  if (!worker?.code?.check) return skipped("the program has no check of this worker any more");
  if (checking.isDenied) return skipped("a call of the run was denied");
  if (worker.serverTools.length > 0) return skipped("its provider executes tools, which nothing can deny");
  if (signal.aborted) return skipped(errorMessage(signal.reason));
  const unpriced = await findUnpricedBelow(run.program, { workers: [worker], priceOf: run.priceOf });
  if (unpriced !== undefined) return skipped(unpriced);
  const budget = budgetOf(request, worker.code.check, { id, budgets: checking.budgets });
  const call = { ...request, callPath: checkCallPath(start.callPath), depth: start.depth, budget, byPrompt: true };
  const leave = run.activity.begin(call.callPath);
  const goOn = run.activity.rest(request.callPath);
  try {
    const { output, stopReason } = await run.callWorker(call, id, start.input as WorkerInput);
    if (stopReason !== "done") return skipped(`the prompt did not come to its end: ${stopReason}`);
    const agreement = compareOutputs(worker.output?.jsonSchema, { one: answer.output, other: output });
    const isSame = agrees(agreement);
    const different = [...agreement].filter(([, field]) => field === "different").map(([path]) => path);
    return {
      ...fact,
      ...(isSame === undefined ? {} : { agrees: isSame }),
      ...(different.length > 0 ? { different } : {}),
    };
  } catch (thrown) {
    if (thrown instanceof JournalError) throw thrown;
    return skipped(errorMessage(signal.aborted ? signal.reason : thrown));
  } finally {
    goOn();
    leave();
  }
}

/** All checks of a worker draw on one budget of dollars, below those of the run. */
function budgetOf(
  { run }: CallRequest,
  { usd }: CodeCheck,
  { id, budgets }: { readonly id: string; readonly budgets: Map<string, Budget> },
): Budget {
  const known = budgets.get(id);
  if (known) return known;
  const { state } = run.effects;
  const paths = state.codeAnswers().flatMap((one) => (one.id === id ? [checkCallPath(one.start.callPath)] : []));
  const spent = paths.map((path) => amountOf(state.usageOf(path)));
  const sum = spent.reduce((all, one) => ({ tokens: all.tokens + one.tokens, usd: all.usd + one.usd }), { tokens: 0, usd: 0 });
  const made = new Budget({ usd }, { parent: run.budget, spent: sum });
  budgets.set(id, made);
  return made;
}

/** The run behind a gate that asks nobody and lets no change through. */
function withoutGrants(run: RuntimeConfig): RuntimeConfig {
  const { runId, effects, activity, emit, redactor, timeUp } = run;
  const policy = { mode: "reject_all" as const, rules: run.policy.rules ?? [] };
  const stop = () => undefined;
  const gate = createGate({ runId, policy, effects, activity, emit, redactor, stop, timeUp, endsRun, looksOnly: true });
  return Object.freeze({ ...run, policy, gate, serverTools: new ServerToolGrants("denied") });
}
