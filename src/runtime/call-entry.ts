import { toStart } from "../effects/effects.ts";
import type { CodeEntry, Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { attachmentPaths, checkAttachments, findAskingFile, readAttachments } from "../toolsets/attachments.ts";
import { abortable } from "../util/async/abortable.ts";
import { toJsonValue } from "../util/json/to-json-value.ts";
import { bracketCall } from "./bracket-call.ts";
import type { CallEnd, CallRequest, RuntimeConfig, WorkerInput } from "./config.ts";
import { openCallScopes } from "./connect/open-call-scopes.ts";
import { refusedInput } from "./results/entry-input.ts";
import { RunError } from "./run-error.ts";
import { createRuntime } from "./worker-runtime.ts";

/** Checks what the entry worker is given. No worker chose it, so no scope confines files that came with it. */
export async function checkEntryInput({ run, callPath }: CallRequest, worker: Worker, given: WorkerInput): Promise<WorkerInput> {
  const input = (await validateInput(worker.input, given.input, callPath)) as JsonObject;
  const recorded = run.effects.recall("call-start", { callPath });
  if (recorded) return { ...given, input, files: recorded.input.files };
  try {
    return { ...given, input, files: await entryFiles(run, worker, { ...given, input }) };
  } catch (thrown) {
    throw refusedInput(thrown, callPath);
  }
}

/**
 * Files that came with the request, or, where its input names files instead, those of the entry's own scopes that no rule of theirs asks
 * for: an input can come from a client or a row of data.
 */
async function entryFiles(run: RuntimeConfig, worker: Worker, { input, files }: WorkerInput): Promise<WorkerInput["files"]> {
  const paths = attachmentPaths(worker.input.jsonSchema, input);
  if (files.length === 0 && paths.length > 0) {
    const scopes = await run.openScopes(worker.scopes);
    try {
      const asking = await findAskingFile(paths, scopes);
      if (asking === undefined) return await readAttachments(paths, scopes, [worker.attachmentPolicy]);
      const why = "an input is taken without a question, and this file is read on approval";
      throw new Error(`\`${asking}\`: ${why}; give its content instead (\`-a FILE\`, or a \`data:\` address)`);
    } finally {
      await scopes.close();
    }
  }
  if (files.length !== paths.length)
    throw new Error(`the input names ${paths.length} attachments, and ${files.length} came with it`);
  checkAttachments(files, worker.attachmentPolicy);
  return files;
}

/** Runs the entry's code. It has no model and no toolsets; it reaches its whole program, through the gate. */
export async function callCode(request: CallRequest, code: CodeEntry, given: WorkerInput): Promise<CallEnd> {
  const { run, callPath, depth, signal } = request;
  const { name } = code;
  if (given.fragments.length > 0)
    throw new RunError("input_invalid", `\`${name}\` is code, and only workers take fragments`, { callPath });
  if (!code.replayable && run.effects.recall("call-start", { callPath }) && run.effects.isReplayed(callPath))
    throw enteredBefore(name, callPath);
  const input = code.input ? await validateInput(code.input, given.input, callPath) : given.input;
  await run.effects.requireLive(toStart(callPath, signal));
  signal.throwIfAborted();
  const scopes = await openCallScopes(run, code, callPath);
  const bracket = bracketCall(run, {
    ...{ callPath, depth, signal, callee: { kind: "code", name } },
    input: { ...given, files: [] },
    detail: run.debug ? { input: given.input } : undefined,
  });
  try {
    const worker = { name, description: "" };
    const runtime = createRuntime({ ...request, worker, model: undefined, scopes, attachments: [], reach: undefined });
    const executed = abortable((async () => code.execute(input, runtime))(), signal);
    const value = await executed.finally(run.activity.enterCode(callPath));
    await run.effects.finish(callPath, signal);
    return bracket.end({ output: toJsonValue(value) as JsonValue, stopReason: "done" });
  } catch (thrown) {
    const turn = run.effects.finish(callPath, signal);
    if (turn) await turn.catch(() => undefined);
    bracket.fail(thrown);
    throw thrown;
  } finally {
    await scopes.close();
  }
}

function enteredBefore(name: string, callPath: CallPath): RunError {
  const error = `\`${name}\` was entered already, and what it did besides its calls is not recorded: it goes on only with \`replayable: true\``;
  return new RunError("uncertain", `${error}, where all of that is \`step\` and \`now\` of its runtime`, { callPath });
}

async function validateInput(schema: Schema, input: JsonObject, callPath: CallPath): Promise<unknown> {
  const checked = await schema.validate(input);
  if (checked.ok) return checked.value;
  throw new RunError("input_invalid", `the input does not fit \`${callPath}\`: ${renderIssues(checked.issues)}`, { callPath });
}
