import { createRehearsedEffects, Rehearsed } from "../effects/policies/rehearsed.ts";
import type { ModelRequest } from "../models/model.ts";
import type { Program, Worker } from "../program/program.ts";
import type { FirstRequest } from "../protocol/first-request.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { RunSetup } from "./config.ts";
import { type RunStart, runEntry } from "./run-entry.ts";
import { RunError } from "./run-error.ts";

/** The parameters of a run without effects: a rehearsal has its own. */
export type RehearsalSetup = Omit<RunSetup, "effects">;

/** The setup of a run that looks at the machine and changes nothing: no effect is performed, no folder made, no listener called. */
export function toRehearsal(setup: RehearsalSetup): RunSetup {
  const { host } = setup;
  const openScopes: typeof host.openScopes = (scopes, options) =>
    host.openScopes(scopes, { ...options, missingRoots: "pretend" });
  return {
    ...setup,
    host: { ...host, openScopes },
    effects: createRehearsedEffects(),
    onEvent: undefined,
    onMessage: undefined,
  };
}

/**
 * Runs a program up to what its entry is given first: the first request to a worker's model, which is not sent, or the input of code,
 * which is not entered. Approvals that the run would ask for before that are taken for granted. Rejects as the run would.
 */
export async function rehearseEntry(program: Program, setup: RehearsalSetup, start: RunStart): Promise<FirstRequest> {
  const { policy, redactor } = setup;
  const mode = policy.mode === "prompt" ? "approve_all" : policy.mode;
  const rehearsal = toRehearsal({ ...setup, policy: { ...policy, mode } });
  let first: FirstRequest | undefined;
  const entered = (input: unknown): never => {
    first = { entry: nameOf(program), input: input as JsonObject };
    throw new RunError("aborted", "the rehearsal ends where code is entered");
  };
  const { entry } = program;
  const rehearsed: Program =
    entry.kind === "code"
      ? { ...program, entry: { ...entry, code: { ...entry.code, execute: entered } } }
      : { ...program, workers: new Map([...program.workers].map(([id, worker]) => [id, withoutCode(worker)])) };
  try {
    await runEntry(rehearsed, rehearsal, start);
  } catch (thrown) {
    const stop = thrown instanceof RunError ? thrown.cause : undefined;
    if (stop instanceof Rehearsed) first = toFirstRequest(program, stop);
    if (!first) throw thrown;
  }
  if (!first) throw new Error("invariant: a rehearsal came to its end");
  return redactor.json(first);
}

/** A rehearsal enters no code: it shows the request that the prompt would make. */
function withoutCode({ code: _, ...worker }: Worker): Worker {
  return worker;
}

function nameOf({ entry }: Program): string {
  return entry.kind === "worker" ? entry.worker.name : entry.code.name;
}

function toFirstRequest(program: Program, { effect, input }: Rehearsed): FirstRequest {
  if (program.entry.kind === "code") throw new Error("invariant: a rehearsal enters no code");
  const { name, model, output, modelSettings, toolsets } = program.entry.worker;
  const unconnected = toolsets.flatMap(({ reference, toolset }) => (toolset.connect ? [reference] : []));
  const { system, messages, tools, serverTools } = effect.detail as unknown as ModelRequest;
  const parts = messages.flatMap((message) => (message.role === "user" ? message.parts : []));
  return {
    entry: name,
    input,
    request: {
      model: model?.id ?? "none",
      modelSource: model?.source ?? "none",
      system,
      user: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
      attachments: parts.flatMap((part) =>
        part.type === "file" ? [{ name: part.name, mediaType: part.mediaType, bytes: part.bytes }] : [],
      ),
      tools,
      ...(unconnected.length > 0 ? { unconnected } : {}),
      ...(serverTools ? { serverTools } : {}),
      ...(output ? { output: output.jsonSchema } : {}),
      settings: { ...modelSettings } as JsonObject,
    },
  };
}
