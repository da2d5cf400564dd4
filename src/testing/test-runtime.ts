import type { ScopeDeclaration } from "../host/scopes/scopes.ts";
import type { JsonValue } from "../protocol/json.ts";
import { toFilePart, toHandle } from "../toolsets/attachments.ts";
import { createMap } from "../toolsets/map-calls.ts";
import { type CallOptions, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import { getOwn } from "../util/get-own.ts";
import { memoryHost } from "./memory-host.ts";
import type { MemoryContent } from "./memory-tree.ts";

export interface TestRuntimeOptions {
  /** By paths in the one scope `.`, which can be written unless `scopes` says otherwise. */
  readonly files?: Readonly<Record<string, MemoryContent>>;
  /** Roots are relative to the folder of `files`. Default: that folder as `.`, writable. */
  readonly scopes?: readonly ScopeDeclaration[];
  /** The workers and tools that the tool calls, by name. Default: none. */
  readonly calls?: Readonly<Record<string, (input: JsonValue, options: CallOptions) => JsonValue | Promise<JsonValue>>>;
  /** Files that were passed to the calling worker, by name. */
  readonly attachments?: Readonly<Record<string, string>>;
  /** The calling worker. Default: `test`. */
  readonly worker?: WorkerRuntime["worker"];
  readonly model?: string;
}

/** A runtime for one tool without a run, and a record of what the tool did with it. The caller closes it. */
export interface TestRuntime extends WorkerRuntime {
  /** The calls that were made, in order. */
  readonly made: readonly { readonly name: string; readonly input: JsonValue; readonly options: CallOptions }[];
  /** The messages of `progress`. */
  readonly told: readonly string[];
  /** The text of each file, by its path. */
  readonly files: () => Readonly<Record<string, string>>;
  /** Aborts `signal`. */
  readonly abort: (reason?: unknown) => void;
  readonly close: () => Promise<void>;
}

const folder = "/work";

/**
 * Creates a runtime to test one tool: `await greet.execute({ name: "Ada" }, await createTestRuntime())`. Its files are in memory. No gate
 * stands before `execute`: arguments are not validated, and nothing asks.
 */
export async function createTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const { files = {}, calls = {}, attachments = {}, worker = { name: "test", description: "" }, model } = options;
  const { scopes: declared = [{ name: ".", root: ".", mode: "rw" as const }] } = options;
  const host = memoryHost({ files, workingDirectory: folder });
  const absolute = declared.map((scope) => ({ ...scope, root: scope.root === "." ? folder : `${folder}/${scope.root}` }));
  const scopes = await host.openScopes(absolute, { programFiles: [], programFolder: folder });
  const encoder = new TextEncoder();
  const parts = await Promise.all(Object.entries(attachments).map(([name, text]) => toFilePart(name, encoder.encode(text))));
  const controller = new AbortController();
  const made: { name: string; input: JsonValue; options: CallOptions }[] = [];
  const told: string[] = [];
  const call = (async (name: string, input: JsonValue = {}, given: CallOptions = {}) => {
    controller.signal.throwIfAborted();
    made.push({ name, input, options: given });
    const answer = getOwn(calls, name);
    if (!answer) throw toolFailure("unknown_tool", `\`calls\` of the test runtime has no \`${name}\``);
    return answer(input, given);
  }) as WorkerRuntime["call"];
  return {
    ...{ scopes, worker, model, made, told, callPath: `${worker.name}/0.tool`, depth: 0 },
    attachments: parts.map(toHandle),
    signal: controller.signal,
    step: async (_name, fn) => fn(),
    now: async () => host.clock.now(),
    progress: (message) => told.push(String(message)),
    traceContext: () => undefined,
    ...{ call, map: createMap(call) },
    files: () =>
      Object.fromEntries(Object.entries(host.snapshot(folder)).map(([path, text]) => [path.slice(folder.length + 1), text])),
    abort: (reason) => controller.abort(reason),
    close: () => scopes.close(),
  };
}
