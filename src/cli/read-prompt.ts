import { fstatSync } from "node:fs";
import { UsageError } from "./exit-codes.ts";
import { type ReadOptions, readStdin } from "./read-stdin.ts";
import type { RunWords } from "./run-words.ts";

/** The prompt of a run, if it has one. stdin is it for `-`, or where there is none and stdin is a pipe or a file. */
export async function readPrompt({ prompt }: RunWords, options: ReadOptions): Promise<string | undefined> {
  if (prompt !== undefined && (prompt.isLiteral || prompt.text !== "-")) return prompt.text;
  if (prompt && process.stdin.isTTY) throw new UsageError("`-` reads the prompt from stdin, and stdin is a terminal");
  if (!prompt && !isPipeOrFile(0)) return undefined;
  const text = await readStdin("the prompt", options);
  return !prompt && text.trim() === "" ? undefined : text.replace(/\r?\n$/, "");
}

function isPipeOrFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}
