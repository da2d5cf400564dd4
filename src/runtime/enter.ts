import type { CodeEntry, Worker } from "../program/program.ts";
import type { CallPath, StopReason } from "../protocol/call.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import { checkAttachments } from "./attachments.ts";
import type { CallEnd, CallPlace, RuntimeConfig } from "./config.ts";
import { RunError } from "./run-error.ts";
import { createCodeRuntime } from "./worker-runtime.ts";

/** What the entry is given: fields and files that no worker chose, so no scope confines them. */
export interface EntryRequest extends CallPlace {
  readonly input: JsonObject;
  readonly files: readonly FilePart[];
  readonly signal: AbortSignal;
}

/** Calls the entry of the program, a worker or code. The entry itself is not asked for: whoever started the run did. */
export function enter(run: RuntimeConfig, request: EntryRequest): Promise<CallEnd> {
  const { entry } = run.program;
  return entry.kind === "worker" ? enterWorker(run, entry.worker, request) : enterCode(run, entry.code, request);
}

async function enterWorker(run: RuntimeConfig, worker: Worker, request: EntryRequest): Promise<CallEnd> {
  const { callPath, depth, files, signal } = request;
  const input = await validateInput(worker.input, request.input, callPath);
  try {
    checkAttachments(files, worker.attachmentPolicy);
  } catch (thrown) {
    throw new RunError("input_invalid", errorMessage(thrown), { cause: thrown, callPath });
  }
  return run.callWorker(worker, { input: { input: input as JsonObject, files }, callPath, depth, account: run.account, signal });
}

/** Code that starts a run has no model and no toolsets; it reaches its whole program, through the gate. */
async function enterCode(run: RuntimeConfig, code: CodeEntry, request: EntryRequest): Promise<CallEnd> {
  const { callPath, depth, signal } = request;
  const { name } = code;
  const input = code.input ? await validateInput(code.input, request.input, callPath) : request.input;
  run.emit(request, { type: "call-start", kind: "code", name });
  run.journal.record({ type: "call-start", callPath, depth, kind: "code", name, input: request.input });
  const started = run.clock.monotonic();
  const scopes = await run.openScopes(code.scopes, { programFiles: run.program.files, programFolder: run.program.root });
  const place = {
    run,
    callPath,
    depth,
    caller: { name, description: "" },
    model: undefined,
    account: run.account,
    reach: undefined,
  };
  let stopReason: StopReason = "failed";
  try {
    const runtime = createCodeRuntime({ ...place, scopes, attachments: [], signal });
    const value = await abortable((async () => code.execute(input, runtime))(), signal);
    stopReason = "done";
    return { output: value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue), stopReason };
  } finally {
    const usage = run.meter.of(callPath);
    run.journal.record({ type: "call-end", callPath, stopReason, usage });
    run.emit(request, { type: "call-end", kind: "code", name, stopReason, usage, milliseconds: run.clock.monotonic() - started });
    await scopes.close();
  }
}

async function validateInput(schema: Schema, input: JsonObject, callPath: CallPath): Promise<unknown> {
  const checked = await schema.validate(input);
  if (checked.ok) return checked.value;
  throw new RunError("input_invalid", `the input does not fit \`${callPath}\`: ${renderIssues(checked.issues)}`, { callPath });
}
