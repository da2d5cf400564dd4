export interface Played {
  readonly exitCode: number;
  /** What a terminal got. */
  readonly output: string;
}

/**
 * Calls commands in this process, as a user does at a terminal: a start of a process for each would take most of the time. The process has
 * no other use for its standard streams and its environment.
 */
export async function createPlayer(variables: Readonly<Record<string, string>>) {
  let output = "";
  for (const stream of [process.stdout, process.stderr]) {
    const printed = (text: string | Uint8Array, ...more: readonly unknown[]) => {
      output += typeof text === "string" ? text : Buffer.from(text).toString("utf8");
      const done = more.find((one) => typeof one === "function") as (() => void) | undefined;
      if (done) setImmediate(done);
      return true;
    };
    Object.assign(stream, { isTTY: true, columns: 1_000, write: printed });
  }
  process.setMaxListeners(0);
  const runnable = Object.fromEntries(Object.entries(process.env).filter(([name]) => name === "PATH" || name === "LLM_DO_SEED"));
  const environment = { ...runnable, NO_COLOR: "1", LLM_DO_PLAIN: "1", TERM: "xterm", ...variables };
  // Streams are looked at when it is imported.
  const { runCommandLine } = await import("../../src/cli/command-line.ts");
  return async (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Played> => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment, more);
    output = "";
    const exitCode = await runCommandLine(words);
    return { exitCode, output };
  };
}
