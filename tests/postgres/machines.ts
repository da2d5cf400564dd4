import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type RunningCli, runCli, script, startCli, temporaryFolder } from "../cli/run-cli.ts";

export const storeKey = "ab".repeat(32);

/** A program whose tool asks, and appends to a file beside it. */
export const desk = {
  "llm-do.yaml": "name: desk\n",
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { desk: {} }\n---\nFile it.\n",
  "model.yaml": script({ main: [{ calls: [{ tool: "file", args: { text: "A-1" } }] }, "filed"] }),
  "tools.ts": `import { appendFileSync } from "node:fs";
import { tool, toolset } from "llm-do";
const file = tool({ name: "file", input: { type: "object", properties: { text: { type: "string" } } }, run: async ({ text }, runtime) => {
  appendFileSync(process.env.LEDGER ?? new URL("./ledger.txt", import.meta.url), text + "\\n");
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.FILE_MILLISECONDS ?? 0)));
  return "ok";
} });
export const desk = toolset({ name: "desk", tools: () => [file] });
`,
};

/** Makes machines that use one database. */
export function machinesOf(store: string) {
  return async (cwd: string, more: Readonly<Record<string, string>> = {}) => {
    const state = join(await temporaryFolder(), "state");
    const env = { LLM_DO_STORE: store, LLM_DO_STORE_KEY: storeKey, LLM_DO_STATE_DIR: state, ...more };
    const execute = async (...args: readonly string[]): Promise<RunningCli> => {
      const started = startCli(["executor", "--programs", ".", "--trust", "--grace", "1", ...args], { cwd, env });
      onTestFinished(() => void started.child.kill("SIGKILL"));
      await started.stderrHolds("llm-do: executes ");
      return started;
    };
    const cli = (...args: readonly string[]) => runCli(args, { cwd, env });
    /** Resolves with what a command printed that has to end with 0. */
    const done = async (...args: readonly string[]) => {
      const { exitCode, stdout, stderr } = await cli(...args);
      expect(exitCode, stderr).toBe(0);
      return stdout;
    };
    return { cli, done, env, execute };
  };
}
