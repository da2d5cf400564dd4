import { valuesOf } from "../../language/values-of.ts";
import type { ScopeSyntax, WorkerFile } from "../../language/worker-file.ts";
import type { Worker } from "../../program/program.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OutlinedWorker } from "../../protocol/outline.ts";
import { allowedWorkers } from "../../toolsets/delegation.ts";
import type { Compilation } from "../compilation.ts";
import { rootPath } from "../link-scopes.ts";
import type { ResolvedWorker } from "../resolve-workers.ts";
import { isWorkerPath } from "../worker-path.ts";
import type { Capability, SandboxWish, ToolsetCapability, WorkerWish } from "./capability.ts";

export interface Creator {
  readonly resolved: ResolvedWorker;
  readonly worker: Worker;
  readonly outlined: OutlinedWorker;
}

/** Returns what a worker can hand on to one that it creates. `models`: others that the program's author allows for created workers. */
export function capabilityOf({ resolved, worker, outlined }: Creator, models: readonly string[]): Capability {
  const { model, modelSettings, commands, attachmentPolicy, serverTools, limits } = worker;
  const toolsets = worker.toolsets.flatMap((reference): [string, ToolsetCapability][] => {
    const found = resolved.references.find(({ syntax }) => syntax.reference.value === reference.reference);
    if (!found) return [];
    const { delegates } = reference;
    const byName = found.target.kind === "toolset" ? found.target.delegates?.filter(({ written }) => written === undefined) : [];
    const config = delegates
      ? withNames(found.syntax.config.value, byName?.map(({ name }) => name) ?? [])
      : found.syntax.config.value;
    // A worker that is called can come to do more: a created worker's calls of workers always ask.
    const approvals = [...reference.approvals].filter(([, isFree]) => !isFree || !(delegates || reference.worker));
    return [[reference.reference, { config, approvals: Object.fromEntries(approvals) }]];
  });
  return {
    models: [...new Set([...(model ? [model.id] : []), ...models])],
    ...{ modelSettings, serverTools, limits },
    scopes: outlined.scopes,
    network: commands.networkEnabled,
    isolationRequired: commands.isolationRequired,
    attachments: attachmentPolicy,
    toolsets: Object.fromEntries(toolsets),
  };
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

/** The wish of a file that was parsed. `rootOf` says which root of the outline a scope has; undefined where it names none. */
export function toWish(
  file: Pick<
    WorkerFile,
    "model" | "model_settings" | "sandbox" | "toolsets" | "server_side_tools" | "attachment_policy" | "limits"
  >,
  rootOf: (scope: ScopeSyntax) => string | undefined,
): WorkerWish {
  const { model, model_settings: settings, sandbox, toolsets, server_side_tools: tools, attachment_policy, limits } = file;
  const { provider_options: options, ...others } = settings?.value ?? {};
  const wished = (toolsets?.value ?? []).map(({ reference, config, approvals }) => {
    const entries = approvals?.value.map(({ tool, preApproved }) => [tool.value, preApproved.value] as const);
    return [reference.value, { config: config.value, ...(entries ? { approvals: Object.fromEntries(entries) } : {}) }] as const;
  });
  return {
    ...(model ? { model: model.value } : {}),
    ...(settings
      ? { model_settings: { ...valuesOf(others), ...(options ? { provider_options: options.value.options } : {}) } }
      : {}),
    ...(sandbox ? { sandbox: toSandboxWish(sandbox.value, rootOf) } : {}),
    ...(toolsets ? { toolsets: Object.fromEntries(wished) } : {}),
    ...(tools ? { server_side_tools: tools.value.map((tool) => valuesOf(tool)) } : {}),
    ...(attachment_policy ? { attachment_policy: valuesOf(attachment_policy.value) } : {}),
    ...(limits ? { limits: valuesOf(limits.value) } : {}),
  };
}

function toSandboxWish(
  { paths, network_enabled, required }: NonNullable<WorkerFile["sandbox"]>["value"],
  rootOf: (scope: ScopeSyntax) => string | undefined,
): SandboxWish {
  const scopes = paths?.value.map((scope) => {
    const { name, root: _, ...rights } = scope;
    const root = rootOf(scope);
    return [name.value, { ...valuesOf(rights), ...(root === undefined ? {} : { root }) }] as const;
  });
  return {
    ...(scopes ? { paths: Object.fromEntries(scopes) } : {}),
    ...(network_enabled?.value === true ? { network_enabled: true } : {}),
    ...(required ? { required: required.value } : {}),
  };
}

/** The folder that a worker's file, or the manifest, declares for a scope: `--scope` is of one run. */
export function declaredRoot(compilation: Compilation, file: WorkerFile, name: string): string | undefined {
  const scopes = (file.sandbox ?? compilation.manifest?.sandbox)?.value.paths?.value ?? [];
  const root = scopes.find((scope) => scope.name.value === name)?.root;
  return root && rootPath(compilation, root);
}
