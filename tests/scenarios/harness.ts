import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { conversationOf } from "../../src/effects/conversation.ts";
import { nodeClock } from "../../src/host/node-clock.ts";
import { type ApprovalPolicy, type RunEvent, type RunOutput, type RunRequest, run } from "../../src/index.ts";
import { scriptedProvider } from "../../src/models/scripted/scripted-provider.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, type MemoryHostOptions, memoryHost } from "../../src/testing/memory-host.ts";
import { environmentSecrets } from "../../src/util/secrets/redactor.ts";
import { dropSecrets, readJournal, readRecord, runsIn } from "../records.ts";
import { compileToReplay, expectSameReplay } from "./replay-run.ts";

export interface Scenario {
  /** Files of the program by their path in it; `.worker` files may leave the fences out of an empty frontmatter. */
  readonly files: Readonly<Record<string, string>>;
  readonly model: Script;
  readonly approval?: ApprovalPolicy | ((host: MemoryHost) => ApprovalPolicy);
  readonly request?: Partial<RunRequest>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Exports of the program's `tools.ts`. */
  readonly tools?: Readonly<Record<string, unknown>>;
  /** False where the program's own code keeps something between its calls, so that a replay finds it changed. Default true. */
  readonly replays?: boolean;
  /** Called when the run has ended, before its replay enters the program's code again. */
  readonly onPlayed?: () => void;
  /** Programs of the machine, whether they can be isolated there, and its network. */
  readonly machine?: Pick<MemoryHostOptions, "commands" | "fetch" | "isolation">;
  /** The key of the run's secrets, in place of the same one for every run. */
  readonly key?: string;
}

export interface Played {
  readonly result: RunOutput | undefined;
  readonly error: unknown;
  readonly events: readonly RunEvent[];
  readonly journal: readonly JournalEntry[];
  readonly model: ScriptedModel;
  /** Files of the program afterwards, journals left out. */
  readonly files: Readonly<Record<string, string>>;
}

/** Plays a whole run through the front door: a program in memory, a model that is a function, everything recorded. */
export async function play({
  files,
  model,
  tools,
  environment = {},
  approval = { mode: "prompt" },
  request = {},
  machine = {},
  key,
  replays = true,
  onPlayed,
}: Scenario): Promise<Played> {
  const root = "/program";
  const absolute = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${root}/${name}`, text]));
  const host = memoryHost({
    ...machine,
    environment,
    files: {
      ...absolute,
      ...(tools
        ? {
            [`${root}/tools.ts`]: Object.keys(tools)
              .map((name) => `export const ${name} = 0;\n`)
              .join(""),
          }
        : {}),
    },
    modules: tools ? { [`${root}/tools.ts`]: { ...tools } } : {},
  });
  const events: RunEvent[] = [];
  const scripted = scriptedModel(model, "test:model");
  const { serverTools = {} } = scriptedProvider;
  const provider = { name: "test", description: "for tests", keyVariables: [], serverTools, create: async () => scripted };
  if (key !== undefined) Object.assign(host, { createKey: () => key });
  const impatient = { ...host, clock: { ...host.clock, sleep: async () => undefined } };
  const full: RunRequest = {
    target: root,
    approval: typeof approval === "function" ? approval(host) : approval,
    host: request.limits?.seconds === undefined ? impatient : host,
    trust: true,
    model: "test:model",
    providers: [provider],
    onEvent: (event) => events.push(event),
    ...request,
  };
  const program = replays ? await compileToReplay(full) : undefined;
  let result: RunOutput | undefined;
  let error: unknown;
  try {
    result = await run(full);
  } catch (thrown) {
    error = thrown;
  }
  onPlayed?.();
  for (const event of events) expectValid(event);
  const runs = await host.files.names(runsIn(root));
  const directory = runs[0] === undefined ? undefined : `${runsIn(root)}/${runs[0]}`;
  const journal = directory === undefined ? [] : (await readJournal(host, directory)).entries;
  const kept = Object.entries(host.snapshot(root));
  if (program && directory !== undefined) {
    const debug = full.debug ?? false;
    const replay = { host: { ...host, clock: nodeClock }, debug };
    const record = await readRecord(host, directory, environmentSecrets(environment));
    await expectSameReplay(program, { ...replay, ...record, events });
    if (result?.stopReason === "done" && result.messages.length > 0)
      expect(conversationOf(record.facts)).toEqual(result.messages);
    if (await dropSecrets(host, directory)) {
      // A journal that was handed on without its secrets replays the same. Its events have other ids.
      await expectSameReplay(program, { ...replay, ...(await readRecord(host, directory)), events: [] });
    }
  }
  return {
    result,
    error,
    events,
    journal,
    model: scripted,
    files: Object.fromEntries(kept.map(([path, text]) => [path.slice(root.length + 1), text])),
  };
}

const isEvent = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync(join(import.meta.dirname, "../../schema/event.schema.json"), "utf8")),
);

/** Every event, as a line of `--events` has it, fits the shipped schema. */
function expectValid(event: RunEvent): void {
  const line: unknown = JSON.parse(JSON.stringify(event));
  expect({ event: line, errors: isEvent(line) ? [] : isEvent.errors }).toEqual({ event: line, errors: [] });
}

export function worker(frontmatter: string, instructions = "Do it."): string {
  return `---\n${frontmatter.trim()}\n---\n${instructions}\n`;
}

/** The types of a run's events, with the call they belong to, for transcripts. */
export function transcript(events: readonly RunEvent[]): string[] {
  const quiet = new Set(["usage", "message", "turn-start", "turn-end"]);
  return events.filter(({ type }) => !quiet.has(type)).map((event) => `${event.callPath} ${event.type}${detail(event)}`);
}

function detail(event: RunEvent): string {
  if (event.type === "tool-result") return event.result.ok ? " ok" : ` ${event.result.error.type}`;
  if (event.type === "approval-decision") return ` ${event.decision.type} by ${event.source}`;
  if (event.type === "call-end" || event.type === "run-end") return ` ${event.stopReason}`;
  return "";
}
