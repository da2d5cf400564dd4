import { valuesOf } from "../language/shapes/values-of.ts";
import type { Entry, Program, ToolsetReference, Worker } from "../program/program.ts";
import type { LimitName, Limits } from "../protocol/usage.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import type { Compilation } from "./compilation.ts";
import type { LinkedServer } from "./link/link-providers.ts";
import type { ProgramCode } from "./modules/find-code.ts";

export interface ProgramParts {
  readonly entry: Entry;
  /** By path. */
  readonly workers: ReadonlyMap<string, Worker>;
  readonly callables: ReadonlyMap<string, ToolsetReference>;
  readonly servers: readonly LinkedServer[];
  readonly code: ProgramCode;
}

/** The linked parts as one frozen program. Every file that was read counts, in its digest and among what no tool may change. */
export function freezeProgram(
  { name, root, manifest, config, files, overrides, scopeRoots, rules, secrets }: Compilation,
  { entry, workers, callables, servers, code }: ProgramParts,
): Program {
  const place = (path: string): string => path.replace(root, "").replaceAll("\\", "/");
  const sources = [...files.digests, ...files.folders].map(([path, digest]) => [place(path), digest]).sort();
  const models = [...workers.values()].map(({ id, model }) => [id, model ? place(model.id) : null]).sort();
  const approval = manifest?.approval?.value.mode;
  const own = new Set([...files.digests.keys(), ...code.files]);
  const { args, journal, debug } = manifest ?? {};
  const byId = new Map([...workers.values()].map((worker) => [worker.id, worker]));
  return Object.freeze({
    name,
    ...(manifest?.name ? { isNamed: true as const } : {}),
    root,
    entry,
    workers: byId,
    get: (name: string) => byId.get(name) ?? onlyOne([...byId.values()].filter((worker) => worker.name === name)),
    callables,
    files: [...own],
    protectedPaths: [...new Set([...own, ...files.reserved])],
    codeFolders: code.codeFolders,
    digest: sha256(canonicalJson([sources, models, [...overrides.texts, ...scopeRoots.texts]])),
    sources: Object.fromEntries(
      sources.flatMap(([path = "", digest = ""]) => (path.startsWith("/") ? [[path.slice(1), digest]] : [])),
    ),
    secrets: Object.freeze([...secrets].map(([name, value]) => ({ name, value }))),
    servers: servers.flatMap(({ provider }) => provider ?? []),
    limits: smallest(valuesOf(manifest?.limits?.value ?? {}), valuesOf(config.limits?.value ?? {})),
    ...(approval ? { approval: approval.value } : {}),
    rules: rules.map(({ effect, rule, source }) => ({ effect, rule, ...(source === undefined ? {} : { source }) })),
    ...(args ? { args: args.value.value } : {}),
    ...(journal ? { journal: journal.value } : {}),
    ...(debug ? { debug: debug.value } : {}),
  });
}

/** The user's limits hold beside the manifest's. */
function smallest(one: Limits, other: Limits): Limits {
  const names = Object.keys({ ...one, ...other }) as LimitName[];
  const least = (name: LimitName) => Math.min(one[name] ?? Number.POSITIVE_INFINITY, other[name] ?? Number.POSITIVE_INFINITY);
  return Object.fromEntries(names.map((name) => [name, least(name)]));
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}
