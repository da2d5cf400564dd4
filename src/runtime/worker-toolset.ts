import type { Scopes } from "../host/scopes.ts";
import type { Worker } from "../program/program.ts";
import type { AttachmentPolicy } from "../protocol/attachment-policy.ts";
import type { CallPath } from "../protocol/call.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";
import {
  type Preparation,
  type PreparedToolsetCall,
  type Target,
  type Tool,
  type Toolset,
  toolFailure,
  toolMark,
  toolsetMark,
} from "../toolsets/toolset.ts";
import { clipText } from "../util/clip-text.ts";
import { attachmentPaths, describeFiles, readAttachments, toPreview, toToolSchema, withAttachmentPaths } from "./attachments.ts";
import type { RuntimeConfig } from "./config.ts";
import { splitExtraContext, withExtraContext } from "./extra-context.ts";
import type { LimitAccount } from "./limit-account.ts";
import { RequestFailed } from "./run-error.ts";

/** Who calls: what a child call needs of it. */
export interface Caller {
  readonly run: RuntimeConfig;
  readonly depth: number;
  /** A code entry has no policy of its own. */
  readonly caller: { readonly id?: string; readonly name: string; readonly attachmentPolicy?: AttachmentPolicy };
  readonly account: LimitAccount;
}

/**
 * A worker as the toolset of one tool: its name, its input schema, its description. Attachments come from the caller's scopes.
 * `takesContext`: its arguments hold the texts that code passes beside the input.
 */
export function workerToolset(
  worker: Worker,
  caller: Caller,
  { takesContext = false }: { readonly takesContext?: boolean } = {},
): Toolset {
  const input = takesContext ? withExtraContext(worker.name, worker.input) : worker.input;
  const tool: Tool = {
    [toolMark]: true,
    name: worker.name,
    description: worker.description,
    input: { ...input, jsonSchema: toToolSchema(input.jsonSchema) },
    calls: [worker.name],
    settlesOnAbort: true,
    execute: (args, runtime, payload) =>
      executeWorker(worker, caller, {
        ...(takesContext ? splitExtraContext(args) : { input: args, texts: [] }),
        files: payload as readonly FilePart[],
        callPath: runtime.callPath,
        signal: runtime.signal,
      }),
  };
  return Object.freeze({
    [toolsetMark]: true as const,
    name: worker.name,
    tools: () => [tool],
    targets: ({ args }: { readonly args: JsonObject }, { scopes }: { readonly scopes: Scopes }) =>
      targetsOf(attachmentPaths(worker.input.jsonSchema, args), scopes),
    prepare: ({ args }: { readonly args: JsonObject }, { scopes }: { readonly scopes: Scopes }) =>
      prepareCall(worker, caller, { args, scopes }),
    describeCall: ({ args }: PreparedToolsetCall) => `Call the worker ${worker.name} with ${clipText(JSON.stringify(args), 200)}`,
    preview: ({ preparation }: PreparedToolsetCall) => ({
      type: "worker" as const,
      worker: worker.name,
      ...(caller.caller.id === undefined ? {} : { caller: caller.caller.name }),
      can: caller.run.program.abilitiesBeyond(caller.caller.id, worker.id),
      destination: `${worker.name} (${worker.model?.id ?? "no model"})`,
      files: (preparation.payload as readonly FilePart[]).map(toPreview),
    }),
    needsApproval: ({ preparation }: PreparedToolsetCall) =>
      preparation.facts["readApproval"] === true
        ? {
            type: "needs-approval" as const,
            by: "rule" as const,
            why: "an attachment has a protected name, or lies in a scope whose files are read on approval",
          }
        : { type: "needs-approval" as const, by: "default" as const, why: "a call to a worker asks unless it is pre-approved" },
  });
}

/** Its attachments are read when the call is prepared. A path that leads nowhere is refused then. */
function targetsOf(paths: readonly string[], scopes: Scopes): readonly Target[] {
  return paths.flatMap((path) => {
    try {
      return [{ read: scopes.target(path) }];
    } catch {
      return [];
    }
  });
}

async function prepareCall(
  worker: Worker,
  { depth, caller, account }: Caller,
  { args, scopes }: { args: JsonObject; scopes: Scopes },
): Promise<Preparation> {
  const limit = account.maxDepth();
  if (depth + 1 > limit) {
    throw toolFailure(
      "limit",
      `\`${caller.name}\` (depth ${depth}) cannot call \`${worker.name}\`: it would run at depth ${depth + 1}, and the limit is ${limit}`,
      "finish the work here, without calling a worker",
    );
  }
  const policies = [...(caller.attachmentPolicy ? [caller.attachmentPolicy] : []), worker.attachmentPolicy];
  const files = await readAttachments(attachmentPaths(worker.input.jsonSchema, args), scopes, policies);
  const readApproval = files.length > 0 && (await anyAsksForReading(files, scopes));
  const names = files.map(({ name }) => name).values();
  const canonicalArgs = withAttachmentPaths(worker.input.jsonSchema, args, names) as JsonObject;
  // The call itself changes nothing: what its tools do is recorded as theirs.
  return { canonicalArgs, targets: [], sideEffect: false, facts: { files: describeFiles(files), readApproval }, payload: files };
}

async function anyAsksForReading(files: readonly FilePart[], scopes: Scopes): Promise<boolean> {
  for (const { name } of files) {
    const { scope, protection } = await scopes.inspect(name, "read");
    if (scope.readApproval || protection === "ask-read-and-write") return true;
  }
  return false;
}

interface WorkerExecution {
  readonly input: JsonObject;
  readonly texts: JsonValue | undefined;
  readonly files: readonly FilePart[];
  readonly callPath: CallPath;
  readonly signal: AbortSignal;
}

async function executeWorker(
  worker: Worker,
  { run, depth, account }: Caller,
  { input, texts, files, callPath, signal }: WorkerExecution,
): Promise<JsonValue> {
  const call = { input: { input, files, fragments: texts as readonly string[] }, callPath, depth: depth + 1, account, signal };
  const end = await run.callWorker(worker, call).catch((thrown: unknown) => {
    if (!(thrown instanceof RequestFailed)) throw thrown;
    throw toolFailure("provider", `\`${worker.name}\` failed: ${thrown.message}`, "go on without it, or call it again");
  });
  if (end.stopReason === "done") return end.output;
  const output = typeof end.output === "string" ? end.output : JSON.stringify(end.output);
  const how = end.stopReason === "limit" ? `ended at ${end.reason ?? "a limit"}` : `was cut off: ${end.reason ?? ""}`;
  const hint = "use what there is, or call it with a smaller task";
  throw toolFailure(end.stopReason, `\`${worker.name}\` ${how}; what it had so far: ${output}`, hint);
}
