import { type CallAnswer, openProgram, type ProgramEngine, type ProgramTurn } from "../host/program-engine.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { parseJson } from "../util/json/parse-json.ts";
import { clipText } from "../util/text/clip-text.ts";
import { type ConfigField, configSchema } from "./config-schema.ts";
import { accessOf } from "./timed-runtime.ts";
import {
  type CallOptions,
  needsApproval,
  type PreparedToolsetCall,
  type Tool,
  ToolFailure,
  type Toolset,
  toolFailure,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "./toolset.ts";
import { type Unsure, unsure } from "./workers/unsure.ts";

export interface ProgramConfig {
  /** Seconds in which a program may compute. The time of its calls does not count. */
  readonly max_seconds: number;
  /** Megabytes. */
  readonly max_memory: number;
  readonly max_calls: number;
}

const atLeastOne = { type: "integer", minimum: 1 } as const;

/** The bounds of a program, as fields of a configuration. */
export const programLimits: Readonly<Record<keyof ProgramConfig, ConfigField>> = {
  max_seconds: {
    ...atLeastOne,
    default: 10,
    description: "The seconds in which one program may compute. The time of its calls does not count.",
  },
  max_memory: { ...atLeastOne, default: 64, description: "The megabytes of memory that one program may use." },
  max_calls: { ...atLeastOne, default: 1000, description: "The most calls of one program." },
};
const config = configSchema<ProgramConfig>(programLimits);

/** UTF-16 units of all that a program says. */
const mostCharacters = 8_000_000;
/** UTF-16 units of an error, and of what a failed program printed before it. */
const longestTrace = 2000;

const asks = needsApproval("a program asks unless it is pre-approved; each of its calls is judged by itself");

const description = [
  [
    "Run a JavaScript program that calls your other tools. Use it where many calls follow from data: loops, calls in parallel, results",
    "that are filtered before you read them. `source` is the body of an async function of `input`; end it with `return`. It has:",
  ].join(" "),
  "- `await call(name, input)`: calls one of your tools with its arguments, gives its result, and throws an Error with `type` if it fails;",
  "- `await map(items, async (item, index) => …, { parallel: 8 })`: the results in the order of the items;",
  "- `print(…)`, `phase(title)`: a trace that you get with the result; `await budget()`: the tokens and dollars that are left.",
  "It has no modules, files, network, clock, timers or randomness. You get `{ result, printed }`; keep the result short.",
].join("\n");

/** Programs that a model writes. Their calls pass the gate, each by itself. */
export const program: Toolset<ProgramConfig> = {
  [toolsetMark]: true,
  name: "program",
  config,
  tools: (limits) => [createTool(limits)],
  needsApproval: () => asks,
  outlook: () => [asks],
  rules: () => ["run programs that call the other tools of the worker"],
  describeCall: ({ args }: PreparedToolsetCall) => {
    const lines = String(args["source"]).split("\n").length;
    return `Run a program of ${lines} ${lines === 1 ? "line" : "lines"}`;
  },
  // The input comes first: a program could end with a comment that looks like one.
  preview: ({ args: { source, input = {} } }: PreparedToolsetCall) => ({
    type: "text",
    text: `// input\n${JSON.stringify(input, null, 2)}\n// program\n${String(source)}`,
  }),
};

function createTool(limits: ProgramConfig): Tool {
  return Object.freeze({
    [toolMark]: true as const,
    name: "run_program",
    description,
    input: fromJsonSchema({
      type: "object",
      properties: {
        source: { type: "string", minLength: 1, maxLength: 100_000, description: "The body of an async function of `input`." },
        input: { type: "object", description: "Data for the program. Default: an empty object." },
      },
      required: ["source"],
      additionalProperties: false,
    }),
    ...programFlags,
    execute: async ({ source, input = {} }: JsonObject, runtime: WorkerRuntime) => {
      const { value, printed } = await executeProgram({ source: String(source), input, limits }, runtime);
      return { result: value as JsonValue, ...(printed.length > 0 ? { printed } : {}) };
    },
  });
}

/** The flags of every tool that runs a program. */
export const programFlags = {
  // Each takes a thread and memory of its own.
  sequential: true,
  calls: [],
  replayable: true,
  settlesOnAbort: true,
} satisfies Partial<Tool>;

export interface ProgramToRun {
  /** The body of an async function of `input`. */
  readonly source: string;
  readonly input: JsonValue;
  readonly limits: ProgramConfig;
  /** The names that it may call. Default: all that its worker reaches. */
  readonly names?: readonly string[];
}

interface ProgramResult {
  /** `Unsure` means something to a worker whose code the program is. */
  readonly value: JsonValue | Unsure;
  readonly printed: readonly string[];
}

/** Runs a program in the interpreter; its calls pass the gate of `runtime`. Throws a `ToolFailure` with the reason and its line. */
export async function executeProgram(
  { source, input, limits, names }: ProgramToRun,
  runtime: WorkerRuntime,
): Promise<ProgramResult> {
  const most = {
    memoryBytes: limits.max_memory * 1024 * 1024,
    milliseconds: limits.max_seconds * 1000,
    ...{ calls: limits.max_calls, characters: mostCharacters },
  };
  const start = { source, input: JSON.stringify(input), most };
  const engine = openProgram(start, runtime.signal);
  try {
    return await drive(engine, new ProgramCalls(runtime, names), runtime);
  } finally {
    await engine.close();
  }
}

/** Executes a program turn by turn. All calls that it made have ended when it has. */
async function drive(engine: ProgramEngine, calls: ProgramCalls, runtime: WorkerRuntime): Promise<ProgramResult> {
  const printed: string[] = [];
  let answers: readonly CallAnswer[] = [];
  for (;;) {
    const turn = await atWork(runtime, engine.next(answers));
    for (const text of turn.printed) runtime.progress(text);
    printed.push(...turn.printed);
    calls.make(turn.calls);
    if (turn.end) {
      await calls.settled();
      return toResult(turn.end, { printed, madeCalls: calls.made > 0 });
    }
    if (calls.areDone) throw failed("it waits for something that is no call, and that never comes", printed);
    answers = await calls.next();
  }
}

function atWork<T>(runtime: WorkerRuntime, work: Promise<T>): Promise<T> {
  const leave = accessOf(runtime)?.beginWork();
  return work.finally(leave);
}

function toResult(
  { type, text }: NonNullable<ProgramTurn["end"]>,
  { printed, madeCalls }: { readonly printed: readonly string[]; readonly madeCalls: boolean },
): ProgramResult {
  if (type === "stopped") throw failed(text, printed);
  const said = parseJson(text);
  if (!isRecord(said)) throw failed("it changed how it speaks", printed);
  if (type === "failed") throw failed(describeError(said), printed);
  const { value } = said as JsonObject;
  if (value === undefined && !madeCalls && printed.length === 0)
    throw failed("it returned nothing and called nothing: `source` is the body of a function, and ends with `return`", printed);
  return { value: type === "unsure" ? readUnsure(value) : (value ?? null), printed };
}

/** A program can say anything. */
function readUnsure(value: JsonValue | undefined): Unsure {
  const { reason, hint } = isRecord(value) ? value : {};
  return unsure(String(reason ?? ""), hint === undefined ? undefined : String(hint));
}

function describeError({ message, stack }: Readonly<Record<string, unknown>>): string {
  const line = /program\.js:(\d+)/.exec(String(stack))?.[1];
  return `${line === undefined ? "" : `line ${line}: `}${clipText(String(message), longestTrace)}`;
}

function failed(why: string, printed: readonly string[]): ToolFailure {
  const trace = printed.join("\n").slice(-longestTrace);
  const shown = trace === "" ? "" : `; it printed:\n${trace}`;
  return toolFailure("tool_failed", `the program failed: ${why}${shown}`, "correct it; what its calls did stays done");
}

/** The calls of one program. The program gets their results in an order that is recorded, so that it does the same when it is entered again. */
class ProgramCalls {
  readonly #runtime: WorkerRuntime;
  readonly #names: readonly string[] | undefined;
  /** Calls whose results the program has not got. A rejection ends more than the call. */
  readonly #open = new Map<number, Promise<CallAnswer>>();
  /** In the order in which they ended. */
  readonly #ended = new Set<number>();
  made = 0;
  #deliveries = 0;

  constructor(runtime: WorkerRuntime, names: readonly string[] | undefined) {
    this.#runtime = runtime;
    this.#names = names;
  }

  get areDone(): boolean {
    return this.#open.size === 0;
  }

  make(calls: readonly string[]): void {
    for (const text of calls) {
      const id = this.made++;
      const answer = this.#answer(id, text);
      this.#open.set(id, answer);
      // A rejection is met by `next` or `settled`.
      answer.then(
        () => this.#ended.add(id),
        () => undefined,
      );
    }
  }

  /** Waits for results. Where one call alone is open there is no order to record. */
  async next(): Promise<readonly CallAnswer[]> {
    await Promise.race(this.#open.values());
    const order =
      this.#open.size === 1
        ? [...this.#open.keys()]
        : await this.#runtime.step(`results ${++this.#deliveries}`, () => [...this.#ended]);
    return Promise.all(order.map((id) => this.#take(id)));
  }

  /** Resolves when all open calls have ended. Rejects with what ends more than a call. */
  async settled(): Promise<void> {
    await Promise.all(this.#open.values());
  }

  async #take(id: number): Promise<CallAnswer> {
    const answer = await this.#open.get(id);
    if (!answer) throw new Error(`invariant: the program has no open call ${id}`);
    this.#open.delete(id);
    this.#ended.delete(id);
    return answer;
  }

  /** Rejects with what ends more than the call: a limit, an end of the run. */
  async #answer(id: number, text: string): Promise<CallAnswer> {
    try {
      return { id, value: await this.#make(id, parseJson(text)) };
    } catch (thrown) {
      if (thrown instanceof ToolFailure) return { id, error: thrown.toolError };
      throw thrown;
    }
  }

  /** `wanted` is a text of the program: it can be anything. Without a name it asks for its budget. */
  async #make(id: number, wanted: unknown): Promise<JsonValue> {
    const { name, input = {}, options = {} } = isRecord(wanted) ? (wanted as JsonObject) : { name: null };
    if (name === undefined) return this.#runtime.step(`budget ${id}`, () => accessOf(this.#runtime)?.left() ?? {});
    if (typeof name !== "string") throw toolFailure("invalid_arguments", "`call` takes the name of a tool first");
    if (!isRecord(options)) throw toolFailure("invalid_arguments", "the options of `call` are an object");
    if (this.#names && !this.#names.includes(name))
      throw toolFailure("unknown_tool", `\`${name}\` is not in the \`calls\` of this program`, "add it to its first lines");
    return this.#runtime.call(name, input, options as CallOptions);
  }
}
