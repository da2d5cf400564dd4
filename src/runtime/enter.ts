import type { CodeEntry, Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { attachmentPaths, checkAttachments, readAttachments } from "../toolsets/attachments.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import { toJsonValue } from "../util/to-json-value.ts";
import { bracketCall } from "./bracket-call.ts";
import type { CallEnd, CallPlace, RuntimeConfig } from "./config.ts";
import { openCallScopes } from "./open-call-scopes.ts";
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
  const recorded = run.effects.recallStart(callPath);
  if (recorded) return recorded.input.files;
  const paths = attachmentPaths(worker.input.jsonSchema, input);
  try {
    if (files.length > 0 || paths.length === 0) {
      if (files.length !== paths.length)
        throw new Error(`the input names ${paths.length} attachments, and ${files.length} came with it`);
      checkAttachments(files, worker.attachmentPolicy);
      return files;
    }
    const scopes = await run.openScopes(worker.scopes);
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
  const scopes = await openCallScopes(run, code.scopes, callPath);
  const caller = { name, description: "" };
  const place = { run, callPath, depth, caller, model: undefined, account: run.account, reach: undefined };
  const bracketed = {
    ...{ callPath, depth, signal, attachments: [], who: { kind: "code" as const, name } },
    input: { input: request.input, files: [], fragments: [] },
    ...(run.debug ? { detail: { input: request.input } } : {}),
  };
  try {
    return await bracketCall(run, bracketed, async () => {
      const runtime = createCodeRuntime({ ...place, scopes, attachments: [], signal });
      const value = await abortable((async () => code.execute(input, runtime))(), signal);
      const finished = run.effects.finish(callPath, signal);
      if (finished) await finished;
      return { output: toJsonValue(value) as JsonValue, stopReason: "done" };
    });
  } finally {
    await scopes.close();
  }
}

async function validateInput(schema: Schema, input: JsonObject, callPath: CallPath): Promise<unknown> {
  const checked = await schema.validate(input);
  if (checked.ok) return checked.value;
  throw new RunError("input_invalid", `the input does not fit \`${callPath}\`: ${renderIssues(checked.issues)}`, { callPath });
}
