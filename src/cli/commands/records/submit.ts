import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compile, type Program, readOutcome } from "../../../front/llm-do.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { keyOf } from "../../../journal/stores/folder-store.ts";
import type { PostgresStore } from "../../../postgres/postgres-store.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import type { Limits } from "../../../protocol/usage.ts";
import { RunError } from "../../../runtime/run-error.ts";
import { readProgramName } from "../../executor/find-programs.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJsonLine, writeResult, writeStderr } from "../../output.ts";
import { guardCommand } from "../../process/guarded-command.ts";
import { takeFirst } from "../../records/find-runs.ts";
import { openQueue } from "../../records/use-database.ts";
import { type ReportFlags, reportResult } from "../../run/report-run.ts";
import { fitInput, type InputFlags, readInput } from "../../run/run-input.ts";
import { checkAttachment } from "../../run/run-request.ts";
import { readWords, type WrittenWords } from "../../run/run-words.ts";

export interface SubmitFlags extends InputFlags, ReportFlags {
  readonly queue: string;
  readonly priority: number;
  readonly at?: Date;
  readonly key?: string;
  readonly limit?: Limits;
  readonly wait?: boolean;
}

/** `llm-do submit TARGET [PROMPT]`: hands a run to the executors. Returns the exit code. */
export function submitCommand(words: WrittenWords, flags: SubmitFlags): Promise<number> {
  return guardCommand({ ...flags, isSubmitted: true }, async ({ signal, note }) => {
    const host = createNodeHost();
    const { targets, ...read } = readWords(words);
    const root = await host.files.realPath(targets[0] ?? ".").catch(() => undefined);
    const name = root === undefined ? undefined : await readProgramName(host, root);
    if (root === undefined || name === undefined)
      throw new UsageError(
        `${words.target} is no folder with a \`name:\` in its llm-do.yaml, by which executors know the program`,
      );
    const { store, queue } = await openQueue();
    const request = await createRequest({ targets: [root], ...read }, flags, signal);
    const { queue: queueName, priority, at, key } = flags;
    const program = keyOf({ root, name }, true);
    const submission = { id: host.createId(), program, root, queue: queueName, request, priority, at, key };
    const id = await queue.submit(submission);
    await queue.close();
    if (!flags.wait) await writeResult(flags.json ? renderJsonLine({ v: 1, runId: id }) : `${id}\n`);
    else note(`submitted ${id}`);
    return flags.wait ? waitFor(store, id, { flags, signal }) : exitCodes.done;
  });
}

async function createRequest(words: ReturnType<typeof readWords>, flags: SubmitFlags, signal: AbortSignal): Promise<JsonObject> {
  const { attachment = [], limit } = flags;
  for (const path of attachment) checkAttachment(path);
  const onWait = (what: string) =>
    flags.quiet || writeStderr(`llm-do: reading ${what} from stdin; where there is none, add < /dev/null\n`);
  const given = await readInput(words, flags, { signal, onWait });
  const [target = "."] = words.targets;
  const { program } = await compile({ target });
  // Fields get their types from the schema, which code of the program may have.
  if (!program && given.fields.length > 0)
    throw new UsageError("`-i` needs the types of the program's code, which does not run here: give --input-json");
  const input = await fitInput(given, program as Program);
  const files = attachment.map((path) => ({ name: basename(path), bytes: readFileSync(path).toString("base64") }));
  return { ...(input === undefined ? {} : { input }), files, ...(limit ? { limits: { ...limit } } : {}) };
}

interface Waiting {
  readonly flags: ReportFlags;
  readonly signal: AbortSignal;
}

const lookMilliseconds = 300;

/** Reports the end of a run as if it had run here. A signal ends the wait, and not the run. */
async function waitFor(store: PostgresStore, id: string, { flags, signal }: Waiting): Promise<number> {
  for (let said: string | undefined; ; await delay(lookMilliseconds)) {
    signal.throwIfAborted();
    const [run] = await takeFirst(store.list({ id }));
    if (!run) throw new RunError("failed", `the record of ${id} was removed`);
    const { waits, ends } = run;
    if (waits === "cancelled") throw new RunError("aborted", `the run ${id} was cancelled`);
    if (waits?.startsWith("failed: ")) throw new RunError("input_invalid", waits.slice("failed: ".length));
    const last = ends?.last;
    // An executor that was stopped in the middle hands the run on.
    if (waits === undefined && last?.type === "run-end" && last.stopReason !== "aborted") return reportEnd(store, id, flags);
    if (waits !== said && waits?.startsWith("waits: ") && !flags.quiet) writeStderr(`llm-do: ${id} ${waits}\n`);
    said = waits;
  }
}

async function reportEnd(store: PostgresStore, id: string, flags: ReportFlags): Promise<number> {
  const outcome = await readOutcome({ secrets: [] }, { run: id, store });
  if (outcome instanceof RunError || !outcome) throw outcome;
  return reportResult(outcome, flags);
}

/** `llm-do cancel RUN`: takes a submitted run off the queue. */
export async function cancelCommand(run: string): Promise<number> {
  const { queue } = await openQueue();
  const { state, cancelled } = (await queue.cancel(run)) ?? {};
  await queue.close();
  if (state === undefined) throw new UsageError(`there is no submitted run \`${run}\`; \`llm-do runs list\` names what there is`);
  if (cancelled) return exitCodes.done;
  writeStderr(`llm-do: ${run} had ended already: ${state}\n`);
  return exitCodes.failed;
}
