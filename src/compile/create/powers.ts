import { defaultAttachmentPolicy, type Worker } from "../../program/program.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OutlinedScope, OutlinedWorker } from "../../protocol/outline.ts";
import { allowedWorkers } from "../../toolsets/workers/delegation.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";
import { isWorkerPath } from "../resolve/worker-path.ts";

/** The keys of a worker file that say what a worker may do, as data. An absent key gives nothing. */
export interface Powers {
  readonly model?: string | undefined;
  readonly model_settings?: JsonObject | undefined;
  readonly attachment_policy?: JsonObject | undefined;
  readonly sandbox?: SandboxPowers | undefined;
  /** By reference: the configuration, with `_approval_config`. */
  readonly toolsets?: Readonly<Record<string, JsonObject>> | undefined;
  readonly server_side_tools?: readonly JsonObject[] | undefined;
  readonly limits?: JsonObject | undefined;
}

export interface SandboxPowers {
  /** By name; the default scope is `.`. Absent: the default scope alone. */
  readonly paths?: Readonly<Record<string, JsonObject>> | undefined;
  readonly network_enabled?: boolean | undefined;
  readonly required?: boolean | undefined;
}

export interface Creator {
  readonly resolved: ResolvedWorker;
  readonly worker: Worker;
  readonly outlined: OutlinedWorker;
}

/** Returns what a worker can hand on to one that it creates. Roots of scopes are those of the outline. */
export function powersOf({ resolved, worker, outlined }: Creator): Powers {
  const { model, modelSettings, commands, attachmentPolicy, serverTools, limits } = worker;
  return {
    model: model?.namedBy === "program" && resolved.file.model ? model.id : undefined,
    model_settings: { ...modelSettings } as JsonObject,
    attachment_policy: writePolicy(attachmentPolicy),
    sandbox: {
      paths: Object.fromEntries(outlined.scopes.map((scope) => [scope.name, writeScope(scope)])),
      network_enabled: commands.networkEnabled,
      required: commands.isolationRequired,
    },
    toolsets: toolsetsOf(resolved, worker),
    server_side_tools: serverTools.map(({ type, ...bounds }) => ({ tool_type: type, ...bounds })),
    limits: { ...limits },
  };
}

function writePolicy(policy: AttachmentPolicy): JsonObject {
  const { maxAttachments, maxTotalBytes, allowedSuffixes, deniedSuffixes, mediaTypes } = policy;
  return {
    max_attachments: maxAttachments,
    ...(maxTotalBytes === defaultAttachmentPolicy.maxTotalBytes ? {} : { max_total_bytes: maxTotalBytes }),
    ...(allowedSuffixes.length > 0 ? { allowed_suffixes: allowedSuffixes } : {}),
    ...(deniedSuffixes.length > 0 ? { denied_suffixes: deniedSuffixes } : {}),
    ...(mediaTypes.length > 0 ? { media_types: mediaTypes } : {}),
  };
}

function writeScope({ root, mode, suffixes, maxFileBytes, ...scope }: OutlinedScope): JsonObject {
  const asks = scope.writesAlwaysAsk ? true : scope.writeApproval ? undefined : false;
  return {
    root,
    mode,
    ...(suffixes ? { suffixes } : {}),
    ...(maxFileBytes === undefined ? {} : { max_file_bytes: maxFileBytes }),
    ...(mode === "ro" || asks === undefined ? {} : { write_approval: asks }),
    ...(scope.readApproval ? { read_approval: true } : {}),
  };
}

function toolsetsOf({ references }: ResolvedWorker, { toolsets }: Worker): Record<string, JsonObject> {
  const entries = toolsets.flatMap(({ reference, delegates, worker, approvals }): [string, JsonObject][] => {
    const found = references.find(({ syntax }) => syntax.reference.value === reference);
    if (!found) return [];
    const { target, syntax } = found;
    const byName = target.kind === "toolset" ? target.delegates?.filter(({ written }) => written === undefined) : [];
    const config = delegates ? withNames(syntax.config.value, byName?.map(({ name }) => name) ?? []) : syntax.config.value;
    // A worker that is called can come to do more: a created worker's calls of workers always ask.
    const kept = [...approvals].filter(([, isFree]) => !isFree || !(delegates || worker));
    return [[reference, withApprovals(config, Object.fromEntries(kept))]];
  });
  return Object.fromEntries(entries);
}

/**
 * The names that the globs of `delegation` mean today stand before them. Paths are left out: in the file of a created worker they would
 * mean other workers.
 */
function withNames(config: JsonObject, names: readonly string[]): JsonObject {
  const { lock_worker: locked, ...others } = config;
  const allowed = allowedWorkers({ allow_workers: others["allow_workers"] ?? [] }).filter((glob) => !isWorkerPath(glob));
  if (typeof locked === "string" && isWorkerPath(locked)) return { ...others, allow_workers: [] };
  if (locked !== undefined) return config;
  return { ...config, allow_workers: [...new Set([...names, ...allowed])] };
}

/** The entry of a toolset without its approvals. */
export function configOf(entry: JsonObject): JsonObject {
  const { _approval_config: _, ...config } = entry;
  return config;
}

/** `_approval_config` of an entry: a tool, or `*`, to pre-approved. */
export function approvalsOf({ _approval_config: written = {} }: JsonObject): Readonly<Record<string, boolean>> {
  const entries = Object.entries(written as JsonObject).map(([tool, entry]) => [tool, (entry as JsonObject)["pre_approved"]]);
  return Object.fromEntries(entries);
}

export function withApprovals(config: JsonObject, approvals: Readonly<Record<string, boolean>>): JsonObject {
  const entries = Object.entries(approvals).map(([tool, isFree]) => [tool, { pre_approved: isFree }]);
  return entries.length === 0 ? config : { ...config, _approval_config: Object.fromEntries(entries) };
}

/** Receives a part of a wish that goes beyond the creator, in words: what it is, and what may be had. */
export type Refuse = (refusal: string) => undefined;

/** Names in backticks, or that there is none. */
export function offer(names: readonly string[]): string {
  return names.length === 0 ? "there is none to be had" : `to be had: ${names.map((name) => `\`${name}\``).join(", ")}`;
}
