import { errorMessage } from "../../util/text/error-message.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { UsageError } from "../exit-codes.ts";

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Told where reading takes so long that a person may wonder what is being waited for. */
  readonly onWait: (what: string) => void;
}

/** More than any model takes; `yes | llm-do` ends here. In bytes. */
export const longestText = 10_000_000;
const waitMilliseconds = 2000;

/** All of stdin, which is UTF-8. `what` says what it is, where it cannot be read. */
export async function readStdin(what: string, { signal, onWait }: ReadOptions): Promise<string> {
  const stdin = process.stdin;
  const stop = () => stdin.destroy();
  const timer = setTimeout(onWait, waitMilliseconds, what);
  signal.addEventListener("abort", stop);
  try {
    const bytes = await readBytes(what, stdin);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(`${what} cannot be read from stdin: ${errorMessage(thrown)}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function readBytes(what: string, stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > longestText) throw new UsageError(`${what} on stdin is longer than ${formatCount(longestText)} bytes`);
  }
  return Buffer.concat(chunks);
}
