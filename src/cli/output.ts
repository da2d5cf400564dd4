import { escapeControls, escapeText } from "../util/text/escape-text.ts";
import { escapeUnseen } from "./terminal/escape-unseen.ts";

const writeToStdout = process.stdout.write.bind(process.stdout);

/** From now on stdout is for the result alone: what code of the program prints (`console.log`) goes to stderr. */
export function reserveStdout(): void {
  const toStderr = (...written: Parameters<typeof process.stderr.write>) => process.stderr.write(...written);
  process.stdout.write = toStderr as typeof process.stdout.write;
}

/**
 * Gives whole lines that are written to stderr to `print`, where stderr is a terminal: another part of the program draws on it. Returns
 * what ends this.
 */
export function divertOutput(print: (text: string) => void): () => void {
  if (!process.stderr.isTTY) return () => undefined;
  const { write } = process.stderr;
  let line = "";
  const take = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    line += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const end = line.lastIndexOf("\n") + 1;
    if (end > 0) print(line.slice(0, end));
    line = line.slice(end);
    const done = more.find((one) => typeof one === "function");
    if (done) setImmediate(done as () => void);
    return true;
  };
  process.stderr.write = take as typeof process.stderr.write;
  return () => {
    process.stderr.write = write;
    if (line !== "") process.stderr.write(line);
  };
}

/** Writes the result, which a terminal shows and does not obey; resolves when it is handed to the system. A reader that went away (`| head`) is no failure. */
export function writeResult(text: string): Promise<void> {
  return writeStyled(process.stdout.isTTY ? escapeControls(text) : text);
}

/** A value as JSON that does nothing to a terminal, in several lines. */
export function renderJson(value: unknown): string {
  return `${escapeUnseen(JSON.stringify(value, undefined, 2))}\n`;
}

/** The same in one line. */
export function renderJsonLine(value: unknown): string {
  return `${escapeUnseen(JSON.stringify(value))}\n`;
}

/** As `writeResult`, for text of ours that is formatted for a terminal. */
export function writeStyled(text: string): Promise<void> {
  endStreamedLine();
  return new Promise((resolve, reject) => {
    writeToStdout(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === "EPIPE") resolve();
      else reject(error);
    });
  });
}

let isEnding = false;
let held: string[] | undefined;

/**
 * Progress and diagnostics, for people: names and messages in them do nothing to a terminal. While a question is open they
 * wait, so that nothing is written into its answer.
 */
export function writeStderr(text: string): void {
  writeStderrAsIs(escapeText(text, { keepNewlines: true, keepBackslashes: true }));
}

/** As `writeStderr`, for lines that a program reads. */
export function writeStderrAsIs(text: string): void {
  if (held) {
    held.push(text);
    return;
  }
  endStreamedLine();
  process.stderr.write(text);
}

let isInLine = false;
let heldReturn = "";

/** Writes a piece of the result to stdout, which is a terminal. What goes to stderr next begins on a line of its own. */
export function writeStreamed(piece: string): void {
  const text = heldReturn + piece;
  // A carriage return may belong to a line break that comes with the next piece.
  heldReturn = text.endsWith("\r") ? "\r" : "";
  const shown = text.slice(0, text.length - heldReturn.length);
  if (shown === "") return;
  eraseStatus();
  writeToStdout(escapeControls(shown));
  isInLine = !shown.endsWith("\n");
}

function endStreamedLine(): void {
  if (isInLine) writeToStdout("\n");
  isInLine = false;
}

let eraseStatus: () => void = () => undefined;

/**
 * Keeps one line at the end of stderr, which is a terminal: `render` says what is in it, once a second. It goes away before anything
 * else is written, and while a question is open. Returns what ends it.
 */
export function keepStatus(render: () => string | undefined): () => void {
  const { write } = process.stderr;
  const writeRaw = write.bind(process.stderr);
  let shown: string | undefined;
  eraseStatus = () => {
    if (shown !== undefined) writeRaw("\r\x1b[K");
    shown = undefined;
  };
  const draw = () => {
    const text = held || isInLine ? undefined : render();
    if (text === undefined || text !== shown) eraseStatus();
    if (text !== undefined && text !== shown) writeRaw(text);
    shown = text;
  };
  process.stderr.write = ((...written: Parameters<typeof writeRaw>) => {
    eraseStatus();
    return writeRaw(...written);
  }) as typeof write;
  const timer = setInterval(draw, 1000);
  return () => {
    clearInterval(timer);
    eraseStatus();
    eraseStatus = () => undefined;
    process.stderr.write = write;
  };
}

/** Holds back what `writeStderr` gets until the work is done. */
export async function holdStderr<T>(work: () => Promise<T>): Promise<T> {
  if (held) return work();
  const waiting: string[] = [];
  endStreamedLine();
  eraseStatus();
  held = waiting;
  try {
    return await work();
  } finally {
    held = undefined;
    for (const text of waiting) process.stderr.write(text);
  }
}

/** Ends the process, whatever a program's code left open, when all that was written has been handed to the system. */
export async function endProcess(exitCode: number): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(drain));
  isEnding = true;
  process.exit(exitCode);
}

/** Says that a library ends the process itself, by intention. */
export function expectExit(): void {
  isEnding = true;
}

/**
 * A process that ends in any other way than by `endProcess` has not done its work: it says so, and does not end with 0.
 * Node ends it in silence if a promise that it waits for can never settle; code of the program can call `process.exit`.
 */
export function failUnlessEnded(): void {
  process.exitCode = 1;
  process.once("beforeExit", () => {
    writeStderr(
      "llm-do: the run has not ended, and nothing is left to wait for: a promise of the program's code never settles\n",
    );
  });
  process.on("exit", (code) => {
    if (isEnding || code !== 0) return;
    process.stderr.write("llm-do: the process was ended before its work was done: code of the program called process.exit\n");
    process.exitCode = 1;
  });
}

/** Writes come in order: when an empty one is done, so are all before it. */
function drain(stream: NodeJS.WriteStream): Promise<void> {
  const write = stream === process.stdout ? writeToStdout : stream.write.bind(stream);
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve();
    else write("", () => resolve());
  });
}
