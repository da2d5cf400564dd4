import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findSystemProgram } from "./program-path.ts";

/** A real pipe: Node gives its children sockets, and a command cannot open `/dev/stderr` if it is one. */
export interface OutputPipe {
  /** Descriptors of ours; who takes the pipe closes them. */
  readonly reader: number;
  readonly writer: number;
  /** Keeps the pipe for another command. To be called after its end was read: then nothing else can write to it. */
  giveBack(): void;
  /** To be called in place of `giveBack` where the end was not read. */
  drop(): void;
}

/** How many are made at once: Node makes no pipes, so it takes a process. */
const batch = 4;
const mostSpare = 32;
/** O_PATH, for which Node has no name: such a descriptor is no end of the pipe. */
const pathFlag = 0o10000000;

/** Descriptors of pipes that have neither a reader nor a writer. */
const spare: number[] = [];

/** Two pipes; undefined if the system cannot make them. */
export async function takePipes(): Promise<readonly [OutputPipe, OutputPipe] | undefined> {
  const first = await takePipe();
  const second = await takePipe();
  if (first && second) return [first, second];
  if (first) closePipe(first);
  return undefined;
}

/** Closes a pipe that no process was started with. */
export function closePipe({ reader, writer, drop }: OutputPipe): void {
  closeSync(reader);
  closeSync(writer);
  drop();
}

async function takePipe(): Promise<OutputPipe | undefined> {
  if (spare.length === 0) await makePipes().catch(() => undefined);
  const pipe = spare.pop();
  if (pipe === undefined) return undefined;
  const path = `/proc/self/fd/${pipe}`;
  const drop = () => closeSync(pipe);
  try {
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const giveBack = () => (spare.length < mostSpare ? void spare.push(pipe) : drop());
    return { reader, writer: openSync(path, constants.O_WRONLY), giveBack, drop };
  } catch (error) {
    drop();
    throw error;
  }
}

/** Makes named pipes in a private folder, and removes their names. */
async function makePipes(): Promise<void> {
  const program = findSystemProgram("mkfifo", []);
  if (program === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), "llm-do-pipes-"));
  try {
    const paths = Array.from({ length: batch }, (_, index) => join(folder, String(index)));
    await promisify(execFile)(program, ["-m", "600", ...paths], { env: {}, cwd: "/" });
    for (const path of paths) spare.push(openSync(path, pathFlag | constants.O_NOFOLLOW));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
