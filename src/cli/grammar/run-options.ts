import { type Command, InvalidArgumentError, Option } from "commander";
import type { ForkPoint, PriceOverrides } from "../../front/llm-do.ts";
import { type Limits, limitNames } from "../../protocol/usage.ts";
import { addNamed, collect, gathering } from "./repeated-options.ts";

/** The flags that say which program it is, and what holds over its files; of every command that compiles one. */
export function addCompileOptions(command: Command): Command {
  return addRightsOptions(
    command
      .optionsGroup("The program:")
      .option("--entry <name>", "start at this worker, or at code: tools.ts:main")
      .option("-m, --model <provider:name>", "the model of every worker that names none of its own")
      .option("--model-for <pattern=model>", "the model of the workers whose names match, over their own (repeatable)", collect)
      .option("--set <key=value>", "a frontmatter key of the entry, or of a worker: worker.key=value (repeatable)", collect),
  );
}

/** The flags that say what a program may do on this machine. */
function addRightsOptions(command: Command): Command {
  return command
    .option("--approve <rule>", "allow calls that match and that nobody made to ask: worker/tool(pattern) (repeatable)", collect)
    .option("--deny <rule>", "block calls that match: worker/tool(pattern) (repeatable)", collect)
    .option(
      "--scope <name=folder>",
      "another folder for a declared scope, relative to the working directory (repeatable)",
      collectScope,
    )
    .option("--unisolated", "run plain readers, and what rules spell out, also where nothing can isolate them");
}

/** The flags of a run; `RunFlags` is what becomes of them. */
export function addRunOptions(run: Command): Command {
  return addAttendanceOptions(addInputOptions(run))
    .option("--tui", "draw the run in the terminal UI, also where a flag or a redirection would print lines")
    .option(
      "--chat",
      "hold a conversation: the entry answers one message after the other, and remembers them; with --plain in lines",
    )
    .option("-c, --continue", "go on with the conversation of the program's last run that ended with an answer")
    .option("--plain", "print lines in place of the terminal UI, for screen readers and logs; LLM_DO_PLAIN=1 is the same")
    .option("--dry-run", "show the first request and all that the program could do; call no model, keep no record")
    .option("--no-journal", "keep no record of the run");
}

function addInputOptions(run: Command): Command {
  return addCompileOptions(addInputFlags(run));
}

function addInputFlags(command: Command): Command {
  return command
    .optionsGroup("Input:")
    .option(
      "-i, --input <key=value>",
      "a field of the entry's input, typed by its schema (repeatable); the value can be @FILE, or @- for stdin",
      collect,
    )
    .option(
      "--input-json <json>",
      "the entry's input as one JSON object, as @FILE, or - for stdin; -i has the last word on a field",
    )
    .option("-a, --attachment <file>", "pass a file along (repeatable)", collect);
}

function limitOption(): Option {
  return new Option("--limit <name=number>", `a limit of the run (repeatable): ${limitNames.join(", ")}`).argParser(collectLimit);
}

/** The flags of a run that begins with the record of another one. */
export function addForkOptions(fork: Command): Command {
  return addAttendanceOptions(addInputOptions(fork)).option(
    "--at <call@turn>",
    "the first request that is made: a turn of the entry (3), or a turn of a call (main/0.helper@2) (default: the last one of the entry)",
    parseForkPoint,
  );
}

function parseForkPoint(value: string): ForkPoint {
  const [, callPath = "", turn] = /^(?:([^@]*[^@\d][^@]*?)(?:@|$))?([1-9]\d*)?$/.exec(value) ?? [];
  if (callPath === "" && turn === undefined)
    throw new InvalidArgumentError(
      "It must be a turn of the entry, from 1, or CALL@TURN, as `llm-do runs show --costs` names them.",
    );
  return { ...(callPath === "" ? {} : { callPath }), ...(turn === undefined ? {} : { turn: Number(turn) }) };
}

/** The flags of a run that goes on. */
export function addResumeOptions(resume: Command): Command {
  return addAttendanceOptions(addCompileOptions(resume))
    .option("--take-over", "go on with a run of another machine, where whether it is still executed cannot be seen")
    .option("--from-here", "where a request is not the recorded one any more, go on from it as a new run");
}

/** The flags that say who decides, and what a run may cost. */
export function addTermOptions(run: Command): Command {
  return run
    .optionsGroup("Approval and trust:")
    .option("--approve-all", "run everything that would ask")
    .option("--reject-all", "deny everything that would ask")
    .addOption(
      new Option("--on-denied <what>", "after a denial: `return` tells the model, `stop` ends the run")
        .choices(["return", "stop"])
        .default("return"),
    )
    .option("--hold", "suspend the run where something asks and nothing else is left to do; `llm-do approvals` lists what waits")
    .option("--approval-timeout <seconds>", "deny a question that nobody answers for so long", parseSeconds)
    .option("--trust", "let the program's own code run, this once")
    .optionsGroup("Limits:")
    .addOption(limitOption())
    .option(
      "--price <model=in,out>",
      "what a model costs, in dollars for a million tokens of input and of output, and, as a third number, of cached input (repeatable)",
      collectPrice,
    )
    .option("--max-depth <number>", "the deepest worker call; the entry is 0 (default: 5)", parseCount);
}

/** The flags of runs for the rows of a file. */
export function addMapOptions(map: Command): Command {
  const mapped = map
    .optionsGroup("Rows:")
    .requiredOption("--inputs <file>", "the rows: JSON Lines, or CSV with a header (.csv, .tsv); - is JSON Lines on stdin")
    .option("--out <file>", "where a line for each row goes, in the order of the rows; started again, only what is missing runs")
    .option("--parallel <number>", "the most rows at a time", parseCount, 20)
    .option("--usd <number>", "dollars for all rows: no request goes out once they are spent", parseDollars)
    .option("--again", "begin anew, whatever an earlier start with this --out did");
  return addQuietOptions(addTermOptions(addCompileOptions(mapped)), "say nothing but the results");
}

/** The flags of a process that executes submitted runs. */
export function addExecutorOptions(executor: Command): Command {
  const served = executor
    .optionsGroup("The executor:")
    .requiredOption("--programs <folder...>", "folders that are programs with a `name:`, or hold some: their runs are taken")
    .option("--queue <name...>", "the queues (default: default)")
    .option("--concurrency <number>", "the most runs at a time", parseCount, 20)
    .option("--grace <seconds>", "at SIGTERM, how long runs may go on before others take them over", parseCount, 30)
    .option("--port <number>", "serve /healthz and /metrics; 0: on a free port, which is named", parseCount)
    .option("--shared <scope...>", "scopes that write into folders which all executors have: any of them goes on with a run");
  return addQuietOptions(addTermOptions(addRightsOptions(served)), "say nothing but why it ended");
}

const quiet = "say nothing but the result, and why it failed";

function addQuietOptions(command: Command, text: string): Command {
  return command
    .optionsGroup("Output and records:")
    .option("-q, --quiet", text)
    .option("--debug", "with stack traces; also by LLM_DO_DEBUG=1");
}

/** The flags of a run that is handed to executors. */
export function addSubmitOptions(submit: Command): Command {
  const queued = addInputFlags(submit)
    .optionsGroup("The queue:")
    .option("--queue <name>", "the queue", "default")
    .option("--priority <number>", "higher ones come first", parseCount, 0)
    .option("--at <time>", "not before then: an ISO date and time", parseTime)
    .option("--key <key>", "the same key of a program is the same run, however often it is submitted")
    .addOption(limitOption())
    .option("--wait", "wait for its end, and report it as `run` does")
    .optionsGroup("Output and records:")
    .option("--json", "print one JSON object in place of the output")
    .option("-o, --output <path>", "with --wait, write the result to a file, whole or not at all, in place of stdout");
  return addQuietOptions(queued, quiet);
}

function parseTime(value: string): Date {
  const time = new Date(value);
  if (Number.isFinite(time.getTime())) return time;
  throw new InvalidArgumentError("It must be a date and time, such as 2026-01-31T08:00Z.");
}

export function parseDollars(value: string): number {
  if (/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(value) && Number(value) > 0) return Number(value);
  throw new InvalidArgumentError("It must be a number of dollars, more than 0.");
}

function addAttendanceOptions(run: Command): Command {
  acceptBareEvents(run);
  return addTermOptions(run)
    .optionsGroup("Output and records:")
    .option("--headless", "ask nothing, even at a terminal")
    .option("--json", "print one JSON object in place of the output")
    .option(
      "-o, --output <path>",
      "write the result to a file, whole or not at all, in place of stdout; or to a folder, with the files that came of the run beside it",
    )
    .option("--events [file]", "tell each event as a line of JSON on stderr, or with --events=FILE in a file")
    .option("--otel", "send spans to the OpenTelemetry endpoint in OTEL_EXPORTER_OTLP_ENDPOINT")
    .option("-v, --verbose", "show calls, approvals and usage on stderr; -vv: text as it comes", increase, 0)
    .option("-q, --quiet", quiet)
    .option(
      "--debug",
      "as -v, with all that each call begins with, its calls and results whole, and stack traces; also by LLM_DO_DEBUG=1",
    );
}

/** The file of `--events` follows a `=`; what stands after a blank is the next argument. */
function acceptBareEvents(run: Command): void {
  const parse = run.parseOptions.bind(run);
  run.parseOptions = (args) => parse(args.map((word) => (word === "--events" ? "--events=-" : word)));
}

const collectScope = gathering((value: string, previous: Readonly<Record<string, string>> = {}) => {
  const split = value.indexOf("=");
  if (split > 0 && split < value.length - 1) return addNamed(previous, value.slice(0, split), value.slice(split + 1));
  throw new InvalidArgumentError("It must be name=folder, with the name of a scope.");
});

const collectLimit = gathering((value: string, previous: Limits = {}): Limits => {
  const [, name = "", number = ""] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if ((limitNames as string[]).includes(name)) return addNamed({ ...previous }, name, Number(number));
  throw new InvalidArgumentError(`It must be name=number, with one of ${limitNames.join(", ")}.`);
});

/** The model can be a pattern, and hold a `=`. */
const collectPrice = gathering((value: string, previous: PriceOverrides = {}): PriceOverrides => {
  const number = "(\\d+(?:\\.\\d+)?)";
  const [, model = "", input, output, cached] = new RegExp(`^(.+[:/].+)=${number},${number}(?:,${number})?$`).exec(value) ?? [];
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("It must be provider:model=INPUT,OUTPUT, in dollars for a million tokens.");
  const price = {
    input: Number(input),
    output: Number(output),
    ...(cached === undefined ? {} : { cachedInput: Number(cached) }),
  };
  return addNamed({ ...previous }, model, price);
});

function increase(_: string, count: number): number {
  return count + 1;
}

export function parseCount(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns milliseconds since the epoch. */
export function parseSince(value: string): number {
  const [, number, unit = ""] = /^(\d+)([mhdw])$/.exec(value) ?? [];
  const time = number === undefined ? Date.parse(value) : Date.now() - Number(number) * (units[unit] ?? 0);
  if (Number.isFinite(time)) return time;
  throw new InvalidArgumentError("It must be a date such as 2026-01-31, or how long ago: 30m, 12h, 7d, 2w.");
}

const secondsOfUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

function parseSeconds(value: string): number {
  const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : 0;
  if (seconds > 0 && seconds <= 2_000_000) return seconds;
  const [, number, unit = ""] = /^(\d+)\s*(s|m|h)/i.exec(value) ?? [];
  const meant = number === undefined ? "" : `, such as ${Number(number) * (secondsOfUnit[unit.toLowerCase()] ?? 1)}`;
  throw new InvalidArgumentError(`It must be a number of seconds${meant}, more than 0 and at most 2000000.`);
}

export function parseTolerance(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0)) throw new InvalidArgumentError("Write a share of 0 or more, such as 0.1.");
  return number;
}
