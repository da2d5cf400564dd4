import { setImmediate } from "node:timers/promises";

import type { Host } from "../../src/host/host.ts";
import { nodeClock } from "../../src/host/node-clock.ts";
import { type ApprovalPolicy, type RunEvent, type RunOutput, resume, run } from "../../src/index.ts";
import type { RunRecord } from "../../src/journal/read-journal.ts";
import type { Script } from "../../src/testing/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { readRecord, runsIn, withAppends } from "../records.ts";
import { compileToReplay, expectSameReplay } from "./replay-run.ts";

const root = "/program";

/** A machine in memory whose processes can be killed: at an entry of a journal everything of one stops. */
export interface World {
  readonly memory: MemoryHost;
  /** Names of the processes that run: a killed one reaches nothing any more. */
  readonly processes: Set<string>;
  /** How many processes there were. */
  started: number;
}

export interface KillableProgram {
  readonly files: Readonly<Record<string, string>>;
  readonly tools: (live: () => Promise<void>) => Readonly<Record<string, unknown>>;
  readonly model: Script;
  readonly approval: (live: () => Promise<void>) => ApprovalPolicy;
  readonly input: string;
  /** Time passes where the clock of the world is advanced. Default: nothing waits. */
  readonly hasClock?: boolean;
}

export interface Attempt {
  readonly result: RunOutput | undefined;
  readonly error: unknown;
  readonly wasKilled: boolean;
  readonly events: readonly RunEvent[];
  readonly record: RunRecord;
}

export function createWorld(files: Readonly<Record<string, string>>, tools: Readonly<Record<string, unknown>> = {}): World {
  const absolute = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${root}/${name}`, text]));
  const code = Object.keys(tools).map((name) => `export const ${name} = 0;\n`);
  const memory = memoryHost({ files: { ...absolute, [`${root}/tools.ts`]: code.join("") } });
  return { memory, processes: new Set(), started: 0 };
}

/** Runs the program, or goes on with its run, in a process of its own that is killed before it writes entry `kill` of its own. */
export async function attempt(
  world: World,
  program: KillableProgram,
  kill = Number.POSITIVE_INFINITY,
  more: object = {},
): Promise<Attempt> {
  const self = `memory ${++world.started}`;
  world.processes.add(self);
  const death = Promise.withResolvers<"killed">();
  const isDead = () => !world.processes.has(self);
  const die = () => {
    world.processes.delete(self);
    death.resolve("killed");
  };
  const live = async () => {
    if (isDead()) await new Promise<never>(() => undefined);
  };
  const host = killableHost(world, {
    ...{ self, isDead, die, kill },
    hasClock: program.hasClock ?? false,
    modules: { ...program.tools(live) },
  });
  const events: RunEvent[] = [];
  const scripted = scriptedModel(async (request) => {
    await live();
    return program.model(request);
  }, "test:model");
  const request = {
    ...{ target: root, host, trust: true, model: "test:model", approval: program.approval(live) },
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => scripted }],
    onEvent: (event: RunEvent) => events.push(event),
    ...more,
  };
  const directory = await directoryOf(world);
  const started = directory === undefined ? run({ ...request, input: program.input }) : resume({ directory, ...request });
  let error: unknown;
  const outcome = await Promise.race([
    death.promise,
    started.catch((thrown: unknown) => {
      error = thrown;
      return undefined;
    }),
  ]);
  // Work under way at a kill or a failure comes to its end; that of a killed process reaches nothing.
  for (let turn = 0; turn < (outcome && outcome !== "killed" ? 0 : 30); turn++) await setImmediate();
  world.processes.delete(self);
  const recorded = await directoryOf(world);
  if (recorded === undefined) throw error;
  const record = await readRecord(world.memory, recorded);
  const wasKilled = outcome === "killed";
  return { result: wasKilled ? undefined : outcome, error: wasKilled ? undefined : error, wasKilled, events, record };
}

/** Plays what is recorded of the run again, with the program as it is. */
export async function expectReplays({ memory }: World, program: KillableProgram): Promise<void> {
  const host = { ...memory, importModule: async () => ({ ...program.tools(async () => undefined) }) };
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => scriptedModel(program.model) };
  const directory = await directoryOf({ memory });
  if (directory === undefined) throw new Error("there is nothing to replay");
  const compiled = await compileToReplay({
    ...{ target: root, forRun: { directory }, host, trust: true, model: "test:model", providers: [provider] },
    approval: { mode: "reject_all" },
  });
  if (!compiled) throw new Error("the program does not compile");
  const { facts, secrets } = await readRecord(memory, directory);
  await expectSameReplay(compiled, { host: { ...memory, clock: nodeClock }, facts, secrets, debug: false, events: [] });
}

/** The folder of the world's run; undefined where it has none. */
export async function directoryOf({ memory }: Pick<World, "memory">): Promise<string | undefined> {
  const [runId] = await memory.files.names(runsIn(root));
  return runId === undefined ? undefined : `${runsIn(root)}/${runId}`;
}

interface Process {
  readonly self: string;
  readonly isDead: () => boolean;
  readonly die: () => void;
  /** The journal's entry that it does not write any more, from 1. */
  readonly kill: number;
  readonly hasClock: boolean;
  readonly modules: Readonly<Record<string, unknown>>;
}

function killableHost({ memory, processes: running }: World, { self, isDead, die, kill, hasClock, modules }: Process): Host {
  const processes = { self, isRunning: (owner: string) => running.has(owner) };
  let left = kill;
  return {
    ...memory,
    processes,
    clock: hasClock ? memory.clock : { ...memory.clock, sleep: () => setImmediate() },
    importModule: async () => ({ ...modules }),
    files: withAppends(memory.files, (path, file) => {
      const isJournal = path.endsWith("journal.jsonl");
      const appendOne = (text: string) => {
        if (isJournal && !isDead() && --left <= 0) die();
        if (isDead()) throw new Error("killed");
        file.append(text);
      };
      // Entries that are written together can be cut off between any two of them.
      const append = (text: string) => text.split(/(?<=\n)/).forEach(appendOne);
      return { ...file, append };
    }),
  };
}
