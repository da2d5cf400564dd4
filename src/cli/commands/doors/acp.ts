import { Writable } from "node:stream";
import type { Command } from "commander";
import type { EarlierRun } from "../../../doors/acp/conversations.ts";
import type { Program } from "../../../front/llm-do.ts";
import { listRun } from "../../../ui/records/list-run.ts";
import { UsageError } from "../../exit-codes.ts";
import { printConfig } from "../../programs/client-config.ts";
import { openProgram } from "../../programs/open-program.ts";
import { serveDoor } from "../../programs/serve-door.ts";
import { answeredRuns, readEarlierConversation } from "../../run/earlier-conversation.ts";
import type { RunFlags } from "../../run/run-flags.ts";

/** Most conversations that are listed. */
const mostListed = 50;

export interface AcpFlags extends RunFlags {
  readonly printConfig?: "zed" | "jetbrains";
}

/** `llm-do acp [TARGET]`: a conversation with a worker, in an editor. Returns the exit code. */
export async function acpCommand(target: string | undefined, flags: AcpFlags, command: Command): Promise<number> {
  if (flags.printConfig) return printConfig({ form: "agent", targets: target === undefined ? [] : [target], flags, command });
  return serveDoor(flags, true, async ({ input, output, note, flags: ofRuns, ...parts }) => {
    if (flags.hold) throw new UsageError("--hold is not for a conversation: the client asks");
    const { program } = await openProgram([target ?? "."], ofRuns, { toRun: true });
    if (program.entry.kind === "code") throw new UsageError("a conversation is with a worker, and the entry is code");
    const { serveAcp } = await import("../../../doors/acp/agent.ts");
    await serveAcp({
      ...{ ...parts, program, onNote: note },
      input: ReadableStream.from(input),
      output: Writable.toWeb(output) as WritableStream<Uint8Array>,
      listEarlier: () => listEarlier(program),
      readEarlier: async (id) => {
        for await (const run of answeredRuns(program)) {
          const history = run.runId === id ? await readEarlierConversation(program, run) : undefined;
          if (history) return history;
        }
        throw new UsageError(`there is no conversation ${id}`);
      },
    });
  });
}

async function listEarlier(program: Program): Promise<readonly EarlierRun[]> {
  const listed: EarlierRun[] = [];
  for await (const { runId, began = 0, ends } of answeredRuns(program)) {
    const { prompt } = ends ? listRun(ends) : {};
    listed.push({ runId, began, ...(prompt === undefined ? {} : { title: prompt }) });
    if (listed.length === mostListed) break;
  }
  return listed;
}
