import { assertRequest, toArgv } from "../host/command/command-request.ts";
import { moveAside } from "../host/command/move-aside.ts";
import { clipOutput } from "../host/command/output-ends.ts";
import { type CommandRequest, type CommandResult, type Commands, type Isolation, NotIsolated } from "../host/commands.ts";
import type { Clock } from "../host/host.ts";
import { scopeTable } from "../host/scopes/open-scopes.ts";
import { foldName } from "../host/scopes/protected-names.ts";
import { inFolder } from "../host/scopes/scope-walk.ts";
import { findProtected } from "../host/wall/protected-entries.ts";
import { closePlaces, openPlaces } from "../host/wall/write-places.ts";

/** A program as a function. A returned text is its standard output. If it throws, the command ends with 126. */
export type ScriptedCommand = (
  argv: readonly string[],
  facts: ScriptedFacts,
) => ScriptedResult | string | Promise<ScriptedResult | string>;

export type ScriptedResult = Partial<Pick<CommandResult, "exitCode" | "stdout" | "stderr">>;

export interface ScriptedFacts extends Pick<CommandRequest, "scopes" | "network" | "environment"> {
  /** As a virtual path. */
  readonly cwd: string;
  /** Aborts at the command's time limit, and when its caller aborts. */
  readonly signal: AbortSignal;
}

export interface MemoryCommandsOptions {
  /** By program name. A script is the last argument of `bash`. */
  readonly programs: Readonly<Record<string, ScriptedCommand>>;
  readonly isolation: Isolation;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Runs functions in place of processes. Requests, scopes and protected names are handled as on a real machine. */
export function createMemoryCommands(options: MemoryCommandsOptions): Commands {
  return {
    isolation: async () => options.isolation,
    which: async (name) => (Object.hasOwn(options.programs, name) ? `/usr/bin/${name}` : undefined),
    run: async (request) => {
      assertRequest(request);
      if (request.converse) throw new TypeError("commands in memory have no stdin");
      request.signal.throwIfAborted();
      const { isolation } = options;
      if (isolation.type === "none" && request.isolationRequired) throw new NotIsolated(isolation.why);
      const ending = new AbortController();
      const signal = AbortSignal.any([ending.signal, request.signal]);
      // Started before the first await: a test may advance the clock right after its call.
      const late = options.clock.sleep(request.timeoutMilliseconds, signal).then(
        () => "late" as const,
        () => "aborted" as const,
      );
      try {
        return await runGuarded(options, request, { signal, late });
      } finally {
        ending.abort();
      }
    },
  };
}

interface Ending {
  readonly signal: AbortSignal;
  readonly late: Promise<"late" | "aborted">;
}

async function runGuarded(options: MemoryCommandsOptions, request: CommandRequest, ending: Ending): Promise<CommandResult> {
  const table = await scopeTable(request.scopes);
  await inFolder(table, request.cwd, async () => {});
  const unprotected = new Set(request.unprotected?.map(foldName));
  const places = await openPlaces(table, request);
  const before = await findProtected({ table, unprotected, places });
  const ran = await runScripted(options.programs, request, ending);
  const randomName = () => Math.floor(options.random() * 2 ** 32).toString(16);
  const { movedAside } = await moveAside({ table, unprotected, places, before, randomName, isOurs: () => false });
  await closePlaces(places);
  const result = { ...ran, isolated: options.isolation.type !== "none", movedAside, tooDeep: before.tooDeep, tooLarge: [] };
  if (request.signal.aborted) request.onInterrupted?.(result);
  request.signal.throwIfAborted();
  return result;
}

type Ran = Omit<CommandResult, "isolated" | "movedAside" | "tooDeep" | "tooLarge">;

async function runScripted(
  programs: MemoryCommandsOptions["programs"],
  request: CommandRequest,
  { signal, late }: Ending,
): Promise<Ran> {
  const argv = toArgv(request.command, "bash");
  const [name = ""] = argv;
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (program === undefined) return toRan(request, { exitCode: 127, stderr: `llm-do: ${name}: command not found\n` });
  const { scopes, network, environment } = request;
  const facts = { scopes, network, ...(environment === undefined ? {} : { environment }), cwd: request.cwd.virtualPath, signal };
  const result = await Promise.race([late, start(program, argv, facts)]);
  if (result === "late") return { ...toRan(request, { exitCode: -1 }), timedOut: true };
  return toRan(request, result === "aborted" ? {} : result);
}

async function start(program: ScriptedCommand, argv: readonly string[], facts: ScriptedFacts): Promise<ScriptedResult> {
  try {
    const result = await program(argv, facts);
    return typeof result === "string" ? { stdout: result } : result;
  } catch (error) {
    return { exitCode: 126, stderr: `${error instanceof Error ? error.message : String(error)}\n` };
  }
}

function toRan(request: CommandRequest, { exitCode = 0, stdout = "", stderr = "" }: ScriptedResult): Ran {
  const [out, err] = [stdout, stderr].map((text) => clipOutput(text, request.maxOutputBytes)) as [Clipped, Clipped];
  return { exitCode, stdout: out.text, stderr: err.text, dropped: { stdout: out.dropped, stderr: err.dropped }, timedOut: false };
}

type Clipped = ReturnType<typeof clipOutput>;
