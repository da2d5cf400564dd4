import type { CodeEntry, Worker } from "../program/program.ts";
import type { CallPath, StopReason } from "../protocol/call.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import { toJsonValue } from "../util/to-json-value.ts";
import { attachmentPaths, checkAttachments, readAttachments } from "./attachments.ts";
import type { CallEnd, CallPlace, RuntimeConfig } from "./config.ts";
import { RunError } from "./run-error.ts";
import { createCodeRuntime } from "./worker-runtime.ts";

/** What the entry is given: fields and files that no worker chose, so no scope confines them. */
export interface EntryRequest extends CallPlace {
  readonly input: JsonObject;
  readonly files: readonly FilePart[];
  /** Context beside the input, for a worker. */
  readonly fragments: readonly string[];
  readonly signal: AbortSignal;
}

/** Calls the entry of the program, a worker or code. The entry itself is not asked for: whoever started the run did. */
export function enter(run: RuntimeConfig, request: EntryRequest): Promise<CallEnd> {
  const { entry } = run.program;
  return entry.kind === "worker" ? enterWorker(run, entry.worker, request) : enterCode(run, entry.code, request);
}

async function enterWorker(run: RuntimeConfig, worker: Worker, request: EntryRequest): Promise<CallEnd> {
  const { callPath, depth, signal } = request;
  const input = await validateInput(worker.input, request.input, callPath);
  const files = await entryFiles(run, worker, { ...request, input: input as JsonObject });
  return run.callWorker(worker, {
    input: { input: input as JsonObject, files, fragments: request.fragments },
    callPath,
    depth,
    account: run.account,
    signal,
  });
}

/** Files that came with the request, or, where its input names files instead, those of the entry's own scopes. */
async function entryFiles(
  run: RuntimeConfig,
  worker: Worker,
  { input, files, callPath }: EntryRequest,
): Promise<readonly FilePart[]> {
  const paths = attachmentPaths(worker.input.jsonSchema, input);
  try {
    if (files.length > 0 || paths.length === 0) {
      if (files.length !== paths.length)
        throw new Error(`the input names ${paths.length} attachments, and ${files.length} came with it`);
      checkAttachments(files, worker.attachmentPolicy);
      return files;
    }
    const scopes = await run.openScopes(worker.scopes, {
      programFiles: run.program.protectedPaths,
      programFolder: run.program.root,
    });
    return await readAttachments(paths, scopes, [worker.attachmentPolicy]).finally(() => scopes.close());
  } catch (thrown) {
    throw new RunError("input_invalid", errorMessage(thrown), { cause: thrown, callPath });
  }
}

/** Code that starts a run has no model and no toolsets; it reaches its whole program, through the gate. */
async function enterCode(run: RuntimeConfig, code: CodeEntry, request: EntryRequest): Promise<CallEnd> {
  const { callPath, depth, signal } = request;
  const { name } = code;
  if (request.fragments.length > 0)
    throw new RunError("input_invalid", `\`${name}\` is code, and only workers take fragments`, { callPath });
  const input = code.input ? await validateInput(code.input, request.input, callPath) : request.input;
  const scopes = await run.openScopes(code.scopes, { programFiles: run.program.protectedPaths, programFolder: run.program.root });
  const detail = run.debug ? { detail: { input: request.input } } : {};
  run.emit(request, { type: "call-start", kind: "code", name, ...detail });
  run.journal.record({ type: "call-start", callPath, depth, kind: "code", name, input: request.input });
  const started = run.clock.monotonic();
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
    const output = toJsonValue(value) as JsonValue;
    stopReason = "done";
    return { output, stopReason };
  } catch (thrown) {
    stopReason = signal.aborted ? "aborted" : "failed";
    throw thrown;
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
