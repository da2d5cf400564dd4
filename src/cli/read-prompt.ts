import { fstatSync } from "node:fs";
import { UsageError } from "./exit-codes.ts";
import type { RunWords } from "./run-words.ts";

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Told where reading takes so long that a person may wonder what is being waited for. */
  readonly onWait: () => void;
}

/** More than any model takes; `yes | llm-do` ends here. In bytes. */
const longestPrompt = 10_000_000;
const waitMilliseconds = 2000;

/** The prompt of a run, if it has one. stdin is it for `-`, or where there is none and stdin is a pipe or a file. */
export async function readPrompt({ prompt }: RunWords, options: ReadOptions): Promise<string | undefined> {
  if (prompt !== undefined && (prompt.isLiteral || prompt.text !== "-")) return prompt.text;
  if (prompt && process.stdin.isTTY) throw new UsageError("`-` reads the prompt from stdin, and stdin is a terminal");
  if (!prompt && !isPipeOrFile(0)) return undefined;
  const text = await readStdin(options);
  return !prompt && text.trim() === "" ? undefined : text.replace(/\r?\n$/, "");
}

function isPipeOrFile(descriptor: number): boolean {
  try {
    // Plain numbers of a pipe stay in a buffer that Node 22.18 then reads for a link: packages behind links come out empty.
    const stats = fstatSync(descriptor, { bigint: true });
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}

async function readStdin({ signal, onWait }: ReadOptions): Promise<string> {
  const stdin = process.stdin;
  const stop = () => stdin.destroy();
  const timer = setTimeout(onWait, waitMilliseconds);
  signal.addEventListener("abort", stop);
  try {
    const bytes = await readBytes(stdin);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(`the prompt cannot be read from stdin: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function readBytes(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > longestPrompt)
      throw new UsageError(`the prompt on stdin is longer than ${longestPrompt.toLocaleString("en-US")} bytes`);
  }
  return Buffer.concat(chunks);
}
