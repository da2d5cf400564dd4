import { basename, dirname, join, relative, resolve } from "node:path";
import { readToolCalls } from "../../../boundary/calls/read-tool-calls.ts";
import { CandidateError } from "../../../boundary/candidate.ts";
import {
  type CallerOfTool,
  findObstacleToSoften,
  findTool,
  printSoftened,
  printToolCases,
  withWorker,
} from "../../../boundary/soften.ts";
import { CompileError } from "../../../compile/compile-error.ts";
import { compile } from "../../../front/llm-do.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { createScratchFolder } from "../../../host/scratch-folder.ts";
import { showLines } from "../../../ui/text/show-lines.ts";
import { showText } from "../../../ui/text/show-text.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { listenForSignals } from "../../process/signals.ts";
import { openProgram } from "../../programs/open-program.ts";
import { findTaken, writeNewFiles } from "../../programs/write-new-files.ts";
import { programOfTarget, storeOfUser } from "../../records/find-runs.ts";
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
    throw thrown instanceof CandidateError ? new UsageError(thrown.message) : thrown;
  }
}

async function soften(written: string, target: string | undefined, flags: SoftenFlags): Promise<number> {
  const [, path, name] = /^(?:\.\/)?(.+\.[cm]?[jt]s):([A-Za-z_]\w*)$/.exec(written) ?? [];
  if (path === undefined || name === undefined) throw new UsageError(`${written}: a tool is written tools.ts:NAME`);
  const opened = await open(target, flags);
  const { root } = opened.outline;
  const { tool, callers } = findTool(opened, { path, name });
  const obstacle = findObstacleToSoften(tool);
  if (obstacle !== undefined) throw new UsageError(obstacle);
  const recorded = await readToolCalls(storeOfUser(), { tool: name, program: await programOfTarget(target) });
  const folder = dirname(path) === "." ? "" : `${dirname(path)}/`;
  const worker = `${folder}${name}.worker`;
  const cases = `${folder}${name}.cases.jsonl`;
  const files = new Map([
    ...(recorded.length > 0 ? [[cases, printToolCases(name, recorded)] as const] : []),
    [worker, printSoftened(tool, `${basename(path)}:${name}`, recorded)] as const,
  ]);
  const [taken] = await findTaken(root, files.keys());
  if (taken !== undefined) throw new UsageError(`${taken}: there is such a file`);
  const changes = await changedCallers(root, callers, { name, preApproved: tool.approval === "pre-approved" });
  await refuseMistakes(root, resolve(target ?? "."), { changes, files });
  const shown = [
    `+ ${showText(worker)}\n${showLines("  + ", files.get(worker) ?? "")}`,
    ...(recorded.length > 0 ? [`+ ${showText(cases)}: ${recorded.length} recorded calls\n`] : []),
    ...changes.map(({ file, before, after }) => `~ ${showText(file)}\n${showChange(before, after)}`),
  ].join("");
  await writeResult(shown);
  if (!flags.yes && !(await askYesOrNo({ render: () => "Write this?", otherwise: "--yes writes it" }))) return exitCodes.failed;
  await writeAll(root, { changes, files });
  writeStderr(`llm-do: ${name} is a worker now, and its code answers first; written into ${worker}\n`);
  if (tool.timeoutSeconds !== undefined)
    writeStderr(
      `llm-do: the limit of ${tool.timeoutSeconds} s of the tool is not kept: \`limits: { seconds: … }\` bounds the worker\n`,
    );
  if (recorded.every(({ output }) => output === undefined))
    writeStderr(`llm-do: no recorded call says what ${name} gives: write its \`output\` into ${worker}\n`);
  return exitCodes.done;
}

async function open(target: string | undefined, flags: SoftenFlags) {
  using signals = listenForSignals();
  const terminal = findTerminal(signals);
  return openProgram([target ?? "."], flags, { terminal, signal: signals.controller.signal, quiet: true });
}

interface Change {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

async function changedCallers(
  root: string,
  callers: readonly CallerOfTool[],
  worker: { readonly name: string; readonly preApproved: boolean },
): Promise<readonly Change[]> {
  const { files } = createNodeHost();
  const changes = callers.map(async ({ file, written }) => {
    const before = await files.readText(join(root, file));
    return { file, before, after: withWorker(before, file, { ...worker, written }) };
  });
  return (await Promise.all(changes)).filter(({ before, after }) => before !== after);
}

/** Makes the change in a copy first. Rejects with a `CompileError` if it does not compile. */
async function refuseMistakes(root: string, target: string, { changes, files }: Whole): Promise<void> {
  const scratch = await createScratchFolder(root);
  try {
    await writeAll(scratch.path, { changes, files });
    const { diagnostics } = await compile({ target: join(scratch.path, relative(root, target)), trust: true });
    if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  } finally {
    await createNodeHost().files.remove(scratch.parent);
  }
}

interface Whole {
  readonly changes: readonly Change[];
  /** New ones, by their paths in the program's folder; the worker is the last. */
  readonly files: ReadonlyMap<string, string>;
}

/** All or nothing. Callers come first: what they say holds for the tool, too, and the worker takes over its name at the end. */
async function writeAll(root: string, { changes, files }: Whole): Promise<void> {
  const host = createNodeHost();
  const written: Change[] = [];
  try {
    for (const change of changes) {
      await host.files.writeAtomically(join(root, change.file), change.after);
      written.push(change);
    }
    await writeNewFiles(root, files, async () => undefined);
  } catch (thrown) {
    for (const { file, before } of written) await host.files.writeAtomically(join(root, file), before);
    throw thrown;
  }
}

function showChange(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return old
    .flatMap((line, at) => (line === now[at] ? [] : [showLines("  - ", line), showLines("  + ", now[at] ?? "")]))
    .join("");
}
