import type { ScopeDeclaration } from "../../src/host/scopes/scopes.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import type { FilesystemConfig } from "../../src/toolsets/filesystem/config.ts";
import { filesystem } from "../../src/toolsets/filesystem/filesystem.ts";
import { type OwnVerdict, ToolFailure, type WorkerRuntime } from "../../src/toolsets/toolset.ts";

type Files = Parameters<MemoryHost["put"]>[1];

/** Prepares, judges and runs a call as the gate does, without asking anybody. */
export async function bench(
  scopesOf: Readonly<Record<string, Partial<ScopeDeclaration>>>,
  files: Readonly<Record<string, Files>>,
  given: Partial<FilesystemConfig> = {},
) {
  const host = memoryHost({ files });
  const declarations = Object.entries(scopesOf).map(
    ([name, more]): ScopeDeclaration => ({ name, root: `/${name}`, mode: "rw", ...more }),
  );
  const scopes = await host.openScopes(declarations, { programFolder: "/program" });
  const config: FilesystemConfig = { max_chars: 20_000, max_entries: 1000, max_search_seconds: 10, ...given };
  const signal = new AbortController().signal;
  const seen = { readable: scopes.readable(), writable: scopes.writable(), networkEnabled: false };
  const tools = filesystem.tools(config, { worker: "w", ...seen });
  const prepare = async (tool: string, args: JsonObject) => {
    const found = tools.find((candidate) => candidate.name === tool);
    const validation = await found?.input.validate(args);
    if (validation?.ok !== true) throw new Error(`invalid: ${JSON.stringify(validation)}`);
    const call = { tool, args: validation.value as JsonObject, config };
    const preparation = await filesystem.prepare?.(call, {
      scopes,
      signal,
      caller: { name: "w", depth: 0, maxDepth: 1 },
      networkEnabled: false,
    });
    if (preparation === undefined) throw new Error("no preparation");
    return { ...call, args: preparation.canonicalArgs, preparation };
  };
  const judge = async (tool: string, args: JsonObject) => filesystem.needsApproval?.(await prepare(tool, args)) as OwnVerdict;
  const run = async (tool: string, args: JsonObject) => {
    const call = await prepare(tool, args);
    const runtime = { scopes, signal } as unknown as WorkerRuntime;
    const found = tools.find((candidate) => candidate.name === tool);
    return (await found?.execute(call.args, runtime, call.preparation.payload)) as JsonObject;
  };
  return { host, scopes, tools, prepare, judge, run };
}

export async function failure(action: Promise<unknown>): Promise<ToolFailure["toolError"]> {
  const error = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolFailure)) throw new Error(`expected a ToolFailure, got ${String(error)}`, { cause: error });
  return error.toolError;
}
