import type { GatedToolset } from "../../approval/gate-types.ts";
import type { Effect, OutcomeCodec } from "../../effects/effects.ts";
import { connectKey, modelKey } from "../../effects/keys.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import type { CallAddress } from "../../protocol/call.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { ToolError } from "../../protocol/tool.ts";
import { readResultName } from "../../toolsets/results/read-result.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import {
  type ConnectAccess,
  type ConnectionChange,
  type ConnectionNote,
  isTool,
  type Tool,
  ToolFailure,
  type Toolset,
  toolFailure,
  toolMark,
} from "../../toolsets/toolset.ts";
import { abortable } from "../../util/async/abortable.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { RuntimeConfig } from "../config.ts";
import { searchToolset } from "../history/search-tools.ts";
import { runEnded } from "../run-error.ts";
import { approveChange } from "./approve-change.ts";
import { checkUnverifiedNames } from "./check-unverified-names.ts";

/** A connected toolset: the tools that it offers while the connection lasts. */
interface Connected {
  readonly tools: readonly Tool[];
  readonly deferred: readonly string[];
  readonly notes: readonly ConnectionNote[];
  /** Equal for equal definitions. */
  readonly fingerprint: string;
  readonly changes: readonly ConnectionChange[];
  readonly close: () => Promise<void>;
}

type Connector = ToolsetReference & { readonly toolset: Required<Pick<Toolset, "connect">> };

export interface ConnectingCall extends CallAddress {
  readonly signal: AbortSignal;
}

/** The toolsets of one call of a worker, behind the gate. The call closes them on every way out. */
export interface OpenToolsets {
  readonly toolsets: readonly GatedToolset[];
  /** Names of tools whose definitions the model gets when it has searched for them. */
  readonly deferred: ReadonlySet<string>;
  readonly notes: readonly ConnectionNote[];
  close(): Promise<void>;
}

const closingMilliseconds = 5000;

/**
 * The connections of a run. One that lives as long as the run is made when a call first needs it, and shared by all calls; a failure
 * to make it holds for all of them, too. Any other connection belongs to one call.
 */
export class Connections {
  readonly #ofRun = new Map<string, { readonly reference: string; readonly connected: Promise<Connected> }>();
  readonly #end = new AbortController();
  /** Names that were not found, each reported once. */
  readonly #reported = new Set<string>();
  readonly #toolNames = new Map<Worker, readonly string[]>();
  /** Names of tools that were found by connecting, as models call them. */
  readonly #found = new Set<string>();

  /** Returns true if a toolset that was connected in this run has a tool of this name. */
  hasFound(name: string): boolean {
    return this.#found.has(name);
  }

  /** Connects what a worker's toolsets need. Rejects with a `ToolFailure` if one cannot be connected, and closes the others. */
  async open(run: RuntimeConfig, worker: Worker, call: ConnectingCall): Promise<OpenToolsets> {
    const own = new Map<string, Connected>();
    const deferred = new Set<string>();
    const notes = new Map<string, readonly ConnectionNote[]>();
    const { activity } = run;
    const open = async (reference: ToolsetReference) => {
      if (!canConnect(reference)) return run.gate.gate(reference);
      const isShared = reference.toolset.lifetime === "run";
      const connected = await (isShared ? this.#share(run, reference, call) : connect(run, reference, call));
      if (!isShared) own.set(reference.reference, connected);
      notes.set(reference.reference, connected.notes);
      for (const { name } of connected.tools) this.#found.add(toolName(reference.prefix, name));
      for (const name of connected.deferred) deferred.add(toolName(reference.prefix, name));
      return run.gate.gate({ ...reference, tools: [...reference.tools, ...connected.tools] });
    };
    const { toolsets: references } = worker;
    const settled = references.some(canConnect)
      ? await activity.wait(
          call.callPath,
          Promise.allSettled(references.map((reference) => open(reference).finally(activity.begin(call.callPath)))),
        )
      : references.map((reference) => ({ status: "fulfilled" as const, value: run.gate.gate(reference) }));
    const offered = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const toolsets = deferred.size > 0 ? [...offered, run.gate.gate(searchToolset(offered, deferred))] : offered;
    const close = () =>
      closeAll(run, call, [
        ...toolsets.flatMap((toolset) => {
          const closing = toolset.close();
          return closing ? [{ closing }] : [];
        }),
        ...[...own].map(([reference, connected]) => ({ reference, closing: connected.close() })),
      ]);
    try {
      for (const one of settled) if (one.status === "rejected") throw one.reason;
      call.signal.throwIfAborted();
      checkToolNames(worker, toolsets);
    } catch (thrown) {
      await close();
      throw thrown;
    }
    if (worker.toolsets.some(canConnect)) {
      const names = toolsets.flatMap(({ definitions }) => definitions.map(({ name }) => name));
      this.#toolNames.set(worker, names);
      checkUnverifiedNames(run, { worker, call, toolNames: this.#toolNames, reported: this.#reported });
    }
    const inOrder = worker.toolsets.flatMap(({ reference }) => notes.get(reference) ?? []);
    return { toolsets, deferred, notes: inOrder, close };
  }

  /** Ends what still connects, and closes the connections of the run. */
  async close(run: RuntimeConfig, place: CallAddress): Promise<void> {
    this.#end.abort(runEnded);
    const closings = [...this.#ofRun.values()].map(({ reference, connected }) => ({
      reference,
      closing: (async () => (await connected.catch(() => undefined))?.close())(),
    }));
    await closeAll(run, place, closings);
  }

  /** A call that is aborted leaves the connection to the others that wait for it. */
  #share(run: RuntimeConfig, reference: Connector, { callPath, signal }: ConnectingCall): Promise<Connected> {
    const key = keyOf(reference);
    const entry = callPath.split("/", 1)[0] ?? callPath;
    const place = { callPath: entry, depth: 0, signal: this.#end.signal };
    const { activity } = run;
    const connected = this.#ofRun.get(key)?.connected ?? connect(run, reference, place).finally(activity.begin(entry));
    this.#ofRun.set(key, { reference: reference.reference, connected });
    connected.catch(() => undefined);
    const unreached = isCutWhileConnecting(run, callPath)
      ? run.effects.requireLive({ callPath, what: `the connection of ${reference.reference}`, signal })
      : undefined;
    return activity.wait(callPath, abortable(unreached ? Promise.race([connected, unreached]) : connected, signal));
  }
}

/** True in a replay of a call that did not come to its first request: what ended it may have come before the connection. */
function isCutWhileConnecting({ effects }: RuntimeConfig, callPath: string): boolean {
  return (
    effects.recall("call-start", { callPath }) !== undefined &&
    !effects.recall("intent", { callPath, key: modelKey(1, 1, false) })
  );
}

function canConnect(reference: ToolsetReference): reference is Connector {
  return reference.toolset.connect !== undefined;
}

function keyOf({ reference, toolset, connection }: Connector): string {
  return connectKey(reference, toolset.lifetime === "run" ? connection : undefined);
}

/** Connects, and asks for what has changed since it was approved. */
async function connect(run: RuntimeConfig, reference: Connector, call: ConnectingCall): Promise<Connected> {
  const connected = await performConnect(run, reference, call);
  try {
    for (const change of connected.changes)
      await approveChange(run, { reference: reference.reference, key: keyOf(reference), change }, call);
    return connected;
  } catch (thrown) {
    await connected.close().catch(() => undefined);
    throw thrown;
  }
}

function performConnect(
  run: RuntimeConfig,
  reference: Connector,
  { callPath, depth, signal }: ConnectingCall,
): Promise<Connected> {
  const digest = sha256(canonicalJson([reference.reference, reference.connection ?? ""]));
  const record = { callPath, key: keyOf(reference), kind: "connect" as const, digest };
  const warn = (message: string) => run.emit({ callPath, depth }, { type: "warning", message: String(message) });
  const effect: Effect<Connected> = {
    record: { ...record, sideEffect: false, announced: false, detail: {} },
    codec: createCodec(reference.toolset),
    work: () => connectNow(reference, { signal, warn, folder: run.program.root }),
  };
  return run.effects.perform(effect, signal);
}

async function connectNow(
  { reference, toolset, config, networkEnabled = false, tools: known }: Connector,
  { signal, warn, folder }: Pick<ConnectAccess, "signal" | "warn" | "folder">,
): Promise<Connected> {
  const connecting = (async () => toolset.connect(config, { signal, networkEnabled, warn, folder }))();
  try {
    const made: unknown = await abortable(connecting, signal);
    const problem = findProblem(made, known);
    if (problem === undefined) for (const { input } of (made as Awaited<typeof connecting>).tools) await input.settle?.();
    if (problem === undefined) return toConnected(made as Awaited<typeof connecting>);
    await abortable(closeQuietly(made), signal);
    throw new TypeError(problem);
  } catch (thrown) {
    // A late connection is closed and not used.
    if (signal.aborted) connecting.then(closeQuietly, () => undefined);
    signal.throwIfAborted();
    const why = thrown instanceof ToolFailure ? thrown.toolError.error : errorMessage(thrown);
    throw toolFailure("unavailable", `the toolset \`${reference}\` cannot be connected: ${why}`);
  }
}

async function closeQuietly(made: unknown): Promise<void> {
  if (isRecord(made) && typeof made["close"] === "function")
    await (async () => (made["close"] as () => unknown)())().catch(() => undefined);
}

/** Says why a connection cannot be used: a mistake of the toolset's author. */
function findProblem(made: unknown, known: readonly Tool[]): string | undefined {
  const tools = isRecord(made) ? made["tools"] : undefined;
  if (!Array.isArray(tools)) return "`connect` has to give an object with a list of `tools`";
  const names = new Set(known.map(({ name }) => name));
  for (const tool of tools) {
    if (!isTool(tool) || !isRecord(tool.input?.jsonSchema))
      return "what it gives under `tools` are not all tools; make them with `tool()`";
    if (!isToolName(tool.name)) return `\`${tool.name}\` is no name for a tool`;
    if (names.has(tool.name)) return `it has two tools \`${tool.name}\``;
    if (tool.calls) return `\`${tool.name}\` has \`calls\`, which only tools that are known before the run can have`;
    names.add(tool.name);
  }
  return undefined;
}

function isToolName(name: unknown): boolean {
  return typeof name === "string" && /^[A-Za-z][A-Za-z0-9_-]*$/.test(name);
}

function toConnected({
  tools,
  deferred = [],
  notes = [],
  fingerprint,
  changes = [],
  close,
}: Awaited<ReturnType<Required<Toolset>["connect"]>>): Connected {
  const definitions = tools.map(define) as unknown as JsonValue;
  return {
    ...{ tools, deferred, notes, changes },
    fingerprint: sha256(canonicalJson([definitions, fingerprint ?? null, ...notes.map(({ text }) => text)])),
    close: async () => close?.(),
  };
}

function define({ name, description, input, sequential, sideEffect, approval }: Tool): JsonObject {
  return {
    ...{ name, description, inputSchema: input.jsonSchema },
    ...(sequential === undefined ? {} : { sequential }),
    ...(sideEffect === undefined ? {} : { sideEffect }),
    ...(approval === undefined ? {} : { approval }),
  };
}

interface RecordedConnection {
  readonly tools: readonly JsonObject[];
  readonly deferred?: readonly string[];
  readonly notes?: readonly ConnectionNote[];
  readonly fingerprint: string;
  readonly changes?: readonly Omit<ConnectionChange, "accept">[];
}

/** A replayed run takes the recorded tools, executes none of them, and does not check their arguments: what came of it is recorded. */
function createCodec({ session }: Toolset): OutcomeCodec<Connected> {
  return {
    encode: ({ tools, deferred, notes, fingerprint, changes }) => ({
      ...{ tools: tools.map(define), fingerprint },
      ...(deferred.length > 0 ? { deferred } : {}),
      ...(notes.length > 0 ? { notes: notes.map(({ from, text }) => ({ from, text })) } : {}),
      ...(session ? { session } : {}),
      ...(changes.length > 0 ? { changes: changes.map(({ name, before, after }) => ({ name, before, after })) } : {}),
    }),
    decode: (value) => {
      const { tools, deferred = [], notes = [], fingerprint, changes = [] } = value as unknown as RecordedConnection;
      const restored = changes.map((change) => ({ ...change, accept: async () => undefined }));
      return { tools: tools.map(restore), deferred, notes, fingerprint, changes: restored, close: async () => undefined };
    },
    encodeError: (thrown) => (thrown instanceof ToolFailure ? (thrown.toolError as unknown as JsonObject) : undefined),
    decodeError: (error) => new ToolFailure(error as unknown as ToolError),
  };
}

function restore({ inputSchema, ...definition }: JsonObject): Tool {
  return {
    ...(definition as unknown as Pick<Tool, "name" | "description" | "sequential" | "sideEffect" | "approval">),
    [toolMark]: true,
    input: { jsonSchema: inputSchema as JsonObject, validate: async (value) => ({ ok: true, value }) },
    execute: () => {
      throw new Error("invariant: a recorded tool is not executed");
    },
  };
}

/** Names that toolsets share are found when the program is compiled, but for those of connected ones. */
function checkToolNames(worker: Worker, toolsets: readonly GatedToolset[]): void {
  const owners = new Map([[readResultName, "llm-do"]]);
  for (const { reference, definitions } of toolsets) {
    for (const { name } of definitions) {
      const other = owners.get(name);
      owners.set(name, reference);
      if (other === undefined) continue;
      const error = `\`${worker.name}\` has two tools \`${name}\`, of the toolsets \`${other}\` and \`${reference}\``;
      throw toolFailure("unavailable", error, "the author of the worker has to give one of them a `_prefix`");
    }
  }
}

interface Closing {
  /** Present for a connection, whose failure is reported. */
  readonly reference?: string;
  readonly closing: Promise<unknown>;
}

/** Abandons what does not close within five seconds. Never rejects. */
async function closeAll(run: RuntimeConfig, place: CallAddress, closings: readonly Closing[]): Promise<void> {
  if (closings.length === 0) return;
  const stop = new AbortController();
  const patience = run.effects.sleep(closingMilliseconds, stop.signal).catch(() => undefined);
  const settle = async ({ reference, closing }: Closing) => {
    const failure = await closing.then(
      () => undefined,
      (thrown: unknown) => errorMessage(thrown),
    );
    if (failure === undefined || reference === undefined) return;
    run.emit(place, { type: "warning", message: `the toolset \`${reference}\` failed to close: ${failure}` });
  };
  await Promise.race([Promise.all(closings.map(settle)), patience]);
  stop.abort();
}
