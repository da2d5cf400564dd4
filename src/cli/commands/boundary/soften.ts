import { resolve } from "node:path";
import { planSoftening, type Softening, writeSoftening } from "../../../boundary/soften-tool.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { showLines } from "../../../ui/text/show-lines.ts";
import { showText } from "../../../ui/text/show-text.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { listenForSignals } from "../../process/signals.ts";
import { openProgram } from "../../programs/open-program.ts";
import { programOfTarget, storeOfUser } from "../../records/find-runs.ts";
import { asUsage } from "../../records/find-step.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";
import { findTerminal } from "../../terminal/terminal.ts";

export interface SoftenFlags {
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** `llm-do soften tools.ts:NAME [TARGET]`: puts a tool behind a worker of its name, as the code that answers first. */
export async function softenCommand(written: string, target: string | undefined, flags: SoftenFlags): Promise<number> {
  try {
    return await soften(written, target, flags);
  } catch (thrown) {
    throw asUsage(thrown);
  }
}

async function soften(written: string, target: string | undefined, flags: SoftenFlags): Promise<number> {
  const host = createNodeHost();
  const { outline, program } = await open(target, flags);
  const plan = await planSoftening(written, {
    ...{ outline, program, host, store: storeOfUser(host) },
    recordsOf: await programOfTarget(target),
    compiled: { target: resolve(target ?? ".") },
  });
  await writeResult(showPlan(plan));
  if (!flags.yes && !(await askYesOrNo({ render: () => "Write this?", otherwise: "--yes writes it" }))) return exitCodes.failed;
  await writeSoftening(plan, host);
  const { name, worker, tool, recorded } = plan;
  writeStderr(`llm-do: ${name} is a worker now, and its code answers first; written into ${worker}\n`);
  if (tool.timeoutSeconds !== undefined)
    writeStderr(
      `llm-do: the limit of ${tool.timeoutSeconds} s of the tool is not kept: \`limits: { seconds: … }\` bounds the worker\n`,
    );
  if (recorded.outputs === 0)
    writeStderr(`llm-do: no recorded call says what ${name} gives: write its \`output\` into ${worker}\n`);
  return exitCodes.done;
}

async function open(target: string | undefined, flags: SoftenFlags) {
  using signals = listenForSignals();
  const terminal = findTerminal(signals);
  return openProgram([target ?? "."], flags, { terminal, signal: signals.controller.signal, quiet: true });
}

function showPlan({ worker, files, changes, recorded }: Softening): string {
  const others = [...files.keys()].filter((file) => file !== worker);
  return [
    `+ ${showText(worker)}\n${showLines("  + ", files.get(worker) ?? "")}`,
    ...others.map((file) => `+ ${showText(file)}: ${recorded.calls} recorded calls\n`),
    ...changes.map(({ file, before, after }) => `~ ${showText(file)}\n${showChange(before, after)}`),
  ].join("");
}

function showChange(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return old
    .flatMap((line, at) => (line === now[at] ? [] : [showLines("  - ", line), showLines("  + ", now[at] ?? "")]))
    .join("");
}
