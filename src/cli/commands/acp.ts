import { Writable } from "node:stream";
import type { Command } from "commander";
import type { EarlierRun } from "../../doors/acp/conversations.ts";
import { listRun } from "../../ui/list-run.ts";
import { printConfig } from "../client-config.ts";
import { createPolicy } from "../create-policy.ts";
import { answeredRuns, readEarlierConversation } from "../earlier-conversation.ts";
import { UsageError } from "../exit-codes.ts";
import { guardProcess, StrayOwners } from "../guard-process.ts";
import { openProgram } from "../open-program.ts";
import { writeStderr } from "../output.ts";
import { type OwnStreams, serveOnOwnOutput } from "../own-output.ts";
import { reportFailure } from "../report-run.ts";
import type { RunFlags } from "../run-flags.ts";
import { createRequest } from "../run-request.ts";
import { listenForSignals } from "../signals.ts";
import { openTelemetry } from "../telemetry.ts";
import { useProxies } from "../use-proxies.ts";

/** Most conversations that are listed. */
const mostListed = 50;

export interface AcpFlags extends RunFlags {
  readonly printConfig?: "zed" | "jetbrains";
}

/** `llm-do acp [TARGET]`: a conversation with a worker, in an editor. Returns the exit code. */
export async function acpCommand(target: string | undefined, flags: AcpFlags, command: Command): Promise<number> {
  if (flags.printConfig) return printConfig({ form: "agent", targets: target === undefined ? [] : [target], flags, command });
  return serveOnOwnOutput((streams) => serveWorker(target, flags, streams));
}

async function serveWorker(target: string | undefined, flags: RunFlags, { input, output }: OwnStreams): Promise<number> {
  using signals = listenForSignals();
  const { signal } = signals.controller;
  const owners = new StrayOwners();
  using _guard = guardProcess(signals.controller, flags, owners);
  try {
    const whole = { ...flags, headless: true, verbose: 0, journal: flags.journal ?? true };
    if (flags.hold) throw new UsageError("--hold is not for a conversation: the client asks");
    const policy = await createPolicy(whole, "client");
    const { program } = await openProgram([target ?? "."], whole, { toRun: true });
    if (program.entry.kind === "code") throw new UsageError("a conversation is with a worker, and the entry is code");
    await using telemetry = await openTelemetry(whole);
    const { signal: _, attachments: __, ...request } = createRequest(whole, signal);
    const note = (message: string) => writeStderr(`llm-do: ${message}\n`);
    await useProxies(process.env, note);
    const { serveAcp } = await import("../../doors/acp/agent.ts");
    await serveAcp({
      ...{ program, request, policy, signal, onNote: note, trace: telemetry.begin, within: owners.within },
      input: ReadableStream.from(input),
      output: Writable.toWeb(output) as WritableStream<Uint8Array>,
      listEarlier: async () => {
        const listed: EarlierRun[] = [];
        for await (const { runId, began = 0, ends } of answeredRuns(program)) {
          const { prompt } = ends ? listRun(ends) : {};
          listed.push({ runId, began, ...(prompt === undefined ? {} : { title: prompt }) });
          if (listed.length === mostListed) break;
        }
        return listed;
      },
      readEarlier: async (id) => {
        for await (const run of answeredRuns(program)) {
          const history = run.runId === id ? await readEarlierConversation(program, run) : undefined;
          if (history) return history;
        }
        throw new UsageError(`there is no conversation ${id}`);
      },
    });
    if (signal.aborted) throw signal.reason;
    return 0;
  } catch (thrown) {
    return await reportFailure(thrown, { ...flags, verbose: 0 });
  }
}
