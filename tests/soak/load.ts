import { getEventListeners } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeClock } from "../../src/host/node-clock.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { compile, type Program, type RunError, type RunEvent, type RunRequest, start } from "../../src/index.ts";
import { anthropic, type Canned, chat } from "../models/dialects.ts";
import { asksForStream, type LocalServer, type Recorded, sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { runsIn } from "../records.ts";
import { type Census, takeCensus, Watched } from "./census.ts";
import { type FaultyProxy, faults, startFaultyProxy } from "./faulty-proxy.ts";

/** How a run goes, beside the faults that it meets. */
const kinds = ["works", "works", "works", "works", "command", "cancelled", "timed", "hangs", "fails", "denied"] as const;
type Kind = (typeof kinds)[number];

interface Planned {
  readonly id: string;
  readonly kind: Kind;
  readonly controller: AbortController;
}

export interface Ended {
  readonly id: string;
  readonly kind: Kind;
  /** The stop reason, or the code of the error. */
  readonly outcome: string;
  /** How often the tool with an effect ran. */
  readonly changes: number;
}

/** Seconds for an answer: 200 runs at once on two cores take longer than one for some. */
const timeout = process.env["LLM_DO_SOAK_SECONDS"] === undefined ? 1 : 10;

const files = {
  "main.worker": `---
description: Does a bit of everything.
sandbox: { paths: { out: { root: ./out, mode: rw, write_approval: false } } }
model_settings: { timeout: ${timeout} }
toolsets:
  look: {}
  change: {}
  hang: {}
  patient: {}
  filesystem: {}
  helper: {}
  shell: { rules: [{ pattern: "true", approval_required: false }] }
---
Do it.
`,
  "helper.worker": `---\ndescription: Helps.\nmodel_settings: { timeout: ${timeout} }\ntoolsets: { look: {} }\n---\nHelp.\n`,
  "tools.ts": `import { tool } from ${JSON.stringify(join(import.meta.dirname, "../../src/index.ts"))};
const input = { type: "object", properties: { id: { type: "string" } } };
export const look = tool({ input, sideEffect: false, approval: "pre-approved", run: ({ id }) => id.repeat(100) });
export const changes = new Map();
export const change = tool({ input, run: ({ id }) => void changes.set(id, (changes.get(id) ?? 0) + 1) });
const untilAborted = (_, { signal }) => new Promise((_resolve, reject) => {
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
});
export const hang = tool({ input, sideEffect: false, run: untilAborted });
export const patient = tool({ input, sideEffect: false, timeoutSeconds: 0.02, run: untilAborted });
`,
};

const call = (tool: string, args: object, n = 0) => ({ id: `c${n}_${tool}`, tool, args: JSON.stringify(args) });

function answerOf(kind: Kind, id: string, turn: number): Canned {
  const done = { text: "done" };
  if (kind === "works" && turn === 0) {
    return {
      calls: [
        call("look", { id }, 1),
        call("look", { id }, 2),
        call("change", { id }),
        call("write_file", { path: "out/made.txt", content: id }),
      ],
    };
  }
  if (kind === "works" && turn === 1) return { calls: [0, 1, 2].map((n) => call("helper", { input: `${id}-helper ${n}` }, n)) };
  if (turn > 0) return done;
  if (kind === "command") return { calls: [call("shell", { command: "true" })] };
  if (kind === "timed" || kind === "cancelled") return { calls: [call("hang", { id }), call("look", { id })] };
  if (kind === "hangs") return { calls: [call("patient", { id }), call("change", { id })] };
  if (kind === "denied") return { calls: [call("change", { id })] };
  return done;
}

/** A program in a folder, a server that plays its models, and a proxy between that breaks what it can. */
export class Load implements AsyncDisposable {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-load-")));
  readonly #running = new Map<string, Planned>();
  /** Given to every run: what runs leave on it adds up. */
  readonly #longLived = new AbortController();
  readonly #random: () => number;
  #server: LocalServer | undefined;
  #proxy: FaultyProxy | undefined;
  #requests: readonly RunRequest[] = [];
  #changes: Map<string, number> = new Map();
  #started = 0;
  readonly #watched = new Watched();
  #quiet: Census | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  async open(): Promise<void> {
    mkdirSync(join(this.#root, "out"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#root, name), text);
    this.#server = await startServer((response, request) => this.#answer(response, request));
    this.#proxy = await startFaultyProxy(this.#server.url, () => faults[Math.floor(this.#random() * faults.length * 8)]);
    const host = createNodeHost({
      environment: {
        ...{ PATH: process.env["PATH"], LLM_DO_STATE_DIR: join(this.#root, "state") },
        ...{ ...anthropic.variables(this.#proxy.url), ...chat.variables(this.#proxy.url) },
      },
      workingDirectory: this.#root,
      // Retries come soon.
      clock: { ...nodeClock, sleep: (milliseconds, signal) => nodeClock.sleep(milliseconds / 20, signal) },
      wall: false,
    });
    const programs = await Promise.all(
      [anthropic, chat].map(async ({ model }): Promise<Program> => {
        const { program, diagnostics } = await compile({ target: this.#root, model, host, trust: true, toRun: true });
        if (!program) throw new Error(JSON.stringify(diagnostics));
        return program;
      }),
    );
    const approvals = [
      { mode: "approve_all", unisolated: true },
      { mode: "prompt", unisolated: true, approver: async () => ({ type: "approve" as const }) },
    ] as const;
    this.#requests = programs.flatMap((program) =>
      approvals.map((approval): RunRequest => ({ program, approval, trust: true, signal: this.#longLived.signal })),
    );
    this.#changes = ((await import(join(this.#root, "tools.ts"))) as { changes: Map<string, number> }).changes;
  }

  /** Plays runs, so many at once, as long as `more` says so. */
  async play(atOnce: number, more: (started: number) => boolean): Promise<readonly Ended[]> {
    const ended: Ended[] = [];
    const one = async () => {
      for (; more(this.#started); ) ended.push(await this.#playOne(this.#started++));
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return ended;
  }

  async #playOne(number: number): Promise<Ended> {
    const kind = kinds[number % kinds.length] ?? "works";
    const planned: Planned = { id: `run-${number};`, kind, controller: new AbortController() };
    const { id, controller } = planned;
    this.#running.set(id, planned);
    const request = this.#requests[Math.floor(number / kinds.length) % this.#requests.length] as RunRequest;
    const listener = listeners[number % listeners.length];
    const onEvent = (event: RunEvent) => {
      this.#watched.add(event);
      return listener?.(event);
    };
    const running = start({
      ...{ ...request, input: id, deltas: number % 3 === 0, onEvent },
      ...(kind === "cancelled" ? { signal: AbortSignal.any([this.#longLived.signal, controller.signal]) } : {}),
      ...(kind === "timed" ? { limits: { seconds: 2 } } : {}),
      ...(kind === "denied" ? { approval: { mode: "prompt" } } : {}),
    } as RunRequest);
    this.#watched.add(planned, onEvent, running.result, running.events);
    // One run in four has a reader who leaves, one none at all.
    if (number % 2 === 0) for await (const { type } of running.events) if (type === "turn-end" && number % 4 === 0) break;
    const outcome = await running.result.then(
      ({ stopReason, denied }) => (denied.length > 0 ? "denied" : stopReason),
      ({ code, message }: RunError) => (code === "failed" ? message : code),
    );
    this.#running.delete(id);
    const changes = this.#changes.get(id) ?? 0;
    this.#changes.delete(id);
    const ended = await running.result.catch(({ run }: RunError) => run);
    const runs = runsIn(realpathSync(this.#root), join(this.#root, "state"));
    rmSync(join(runs, ended?.runId ?? "none"), { recursive: true, force: true });
    return { id, kind, outcome, changes };
  }

  async #answer(response: Parameters<typeof sendJson>[0], request: Recorded): Promise<void> {
    this.#server?.requests.splice(0);
    const { body } = request;
    const dialect = request.path.includes("/messages") ? anthropic : chat;
    const text = JSON.stringify(body.messages.find(({ role }: { role: string }) => role === "user"));
    const [id = "", isHelper] = /run-\d+;(-helper)?/.exec(text) ?? [];
    const planned = this.#running.get(id.replace("-helper", ""));
    const turn = body.messages.filter(({ role }: { role: string }) => role === "assistant").length;
    if (!planned) return sendJson(response, dialect.error("the run is over"), 400);
    if (planned.kind === "fails") return sendJson(response, dialect.error("no"), 400);
    if (planned.kind === "cancelled" && this.#random() < 0.5) planned.controller.abort(new Error("cancelled"));
    else if (planned.kind === "cancelled")
      setImmediate(() => setImmediate(() => planned.controller.abort(new Error("cancelled"))));
    const canned = isHelper
      ? turn === 0
        ? { calls: [call("look", { id })] }
        : { text: "helped" }
      : answerOf(planned.kind, id, turn);
    if (asksForStream(request)) sendEvents(response, dialect.events(canned));
    else sendJson(response, dialect.body(canned));
  }

  /** Counts what is left when everything is over. */
  async census(): Promise<Census> {
    const { signal } = this.#longLived;
    const census = await takeCensus(
      this.#watched,
      ({ kept, children, descriptors, resources }) => {
        this.#proxy?.closeIdle();
        return kept + children + resources.length === 0 && descriptors <= (this.#quiet?.descriptors ?? descriptors);
      },
      () => getEventListeners(signal, "abort").length,
    );
    this.#quiet ??= census;
    return census;
  }

  get faults(): FaultyProxy["played"] | undefined {
    return this.#proxy?.played;
  }

  /** Names of files that no run should leave: temporaries and locks. */
  leftOver(): readonly string[] {
    const all = readdirSync(this.#root, { recursive: true, encoding: "utf8" });
    return all.filter((path) => /\.tmp|lock|~/i.test(path) || /^(out\/(?!made\.txt$)|state\/runs\/[^/]+\/\d)/.test(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Listeners of every sort: quick, never done, failing, and throwing. */
const listeners: readonly NonNullable<RunRequest["onEvent"]>[] = [
  () => undefined,
  () => new Promise<never>(() => undefined) as unknown as undefined,
  () => Promise.reject(new Error("a listener")) as unknown as undefined,
  () => {
    throw new Error("a listener");
  },
];
