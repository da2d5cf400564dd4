import { createNodeHost } from "../../../src/host/node-host.ts";
import type { ScopeDeclaration, Scopes } from "../../../src/host/scopes/scopes.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { ShellConfig } from "../../../src/toolsets/shell/config.ts";
import { createShellToolset } from "../../../src/toolsets/shell/shell.ts";
import type { OwnVerdict, WorkerRuntime } from "../../../src/toolsets/toolset.ts";
import { environment } from "./playground.ts";

/** Effects as the call has them, by names of scopes, folders in them, and protected names. */
export interface Effects {
  readonly scratch?: boolean;
  readonly writes?: readonly string[];
  readonly opens?: readonly string[];
  readonly reads?: readonly string[];
  readonly network?: boolean;
}

export interface Line extends Effects {
  readonly command: string;
  readonly cwd?: string;
  /** Seconds. */
  readonly timeout?: number;
}

export interface Played {
  readonly verdict: OwnVerdict;
  /** What was approved or allowed, as the call's canonical arguments say. */
  readonly granted: Effects;
  /** Undefined where it did not run. */
  readonly result: JsonObject | undefined;
  /** Why it did not run. */
  readonly refused: string | undefined;
}

export interface Stage {
  play(line: Line, answer: "approve" | "deny"): Promise<Played>;
  /** Returns the patterns of the rules by which a line runs without a question, none for a look; undefined where it asks. */
  allowedBy(line: Line): Promise<readonly string[] | undefined>;
  close(): Promise<void>;
}

export interface Place {
  readonly scopes: readonly ScopeDeclaration[];
  /** Of the user. Default: this process's. */
  readonly home?: string;
  readonly programFiles?: readonly string[];
  readonly programFolder?: string;
}

/** Plays calls of `shell` as the gate does: prepared, judged, answered by nobody but `answer`, executed. */
export async function createStage(place: Place, config: ShellConfig): Promise<Stage> {
  const { home, programFiles, programFolder } = place;
  const host = createNodeHost({ environment, ...(home === undefined ? {} : { homeDirectory: home }) });
  const scopes = await host.openScopes(place.scopes, {
    ...(programFiles && { programFiles }),
    ...(programFolder === undefined ? {} : { programFolder }),
  });
  const toolset = createShellToolset({ commands: host.commands });
  const seen = { readable: scopes.readable(), writable: scopes.writable(), networkEnabled: false };
  const [tool] = toolset.tools(config, { worker: "w", ...seen });
  if (tool === undefined) throw new Error("there is no tool");
  const { signal } = new AbortController();
  const prepare = async (line: Line) => {
    const checked = await tool.input.validate({ timeout: 3, ...line });
    if (!checked.ok) throw new Error(`invalid: ${JSON.stringify(checked.issues)}`);
    const call = { tool: "shell", args: checked.value as JsonObject, config };
    const around = { scopes, signal, caller: { name: "w", depth: 0, maxDepth: 1 }, networkEnabled: false };
    const preparation = await toolset.prepare?.(call, around);
    if (preparation === undefined) throw new Error("nothing was prepared");
    const args = preparation.canonicalArgs as JsonObject;
    const verdict = toolset.needsApproval?.({ ...call, args, preparation }) as OwnVerdict;
    return { args, verdict, payload: preparation.payload };
  };
  const play = async (line: Line, answer: "approve" | "deny"): Promise<Played> => {
    try {
      const { args, verdict, payload } = await prepare(line);
      const runs = verdict.type === "pre-approved" || (answer === "approve" && verdict.type !== "blocked");
      if (!runs) return refuse(verdict, verdict.why ?? verdict.type);
      const result = (await tool.execute(args, runtimeOf(scopes, signal), payload)) as JsonObject;
      return { verdict, granted: args as Effects, result, refused: undefined };
    } catch (error) {
      return refuse({ type: "blocked", why: "failed" }, (error as Error).message);
    }
  };
  const allowedBy = async (line: Line) => {
    const verdict = await prepare(line).then(
      (prepared) => prepared.verdict,
      () => undefined,
    );
    if (verdict?.type !== "pre-approved") return undefined;
    return [...(verdict.why ?? "").matchAll(/`([^`]+)`/g)].flatMap(([, pattern]) => pattern ?? []);
  };
  return { play, allowedBy, close: () => scopes.close() };
}

function refuse(verdict: OwnVerdict, why: string): Played {
  return { verdict, granted: {}, result: undefined, refused: why };
}

function runtimeOf(scopes: Scopes, signal: AbortSignal): WorkerRuntime {
  return { scopes, signal } as unknown as WorkerRuntime;
}
