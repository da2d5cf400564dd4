import { basename, dirname, join, relative } from "node:path";
import { CompileError } from "../compile/compile-error.ts";
import { type CompileRequest, compileWith } from "../front/llm-do.ts";
import { findTaken, writeNewFiles } from "../host/files/new-files.ts";
import type { Host } from "../host/host.ts";
import { createScratchFolder } from "../host/scratch-folder.ts";
import type { ProgramOfRun, RunStore } from "../journal/stores/store.ts";
import type { Program } from "../program/program.ts";
import type { Outline } from "../protocol/outline.ts";
import type { Tool } from "../toolsets/toolset.ts";
import { readToolCalls } from "./calls/read-tool-calls.ts";
import { CandidateError } from "./candidate.ts";
import { type CallerOfTool, findObstacleToSoften, findTool, printSoftened, printToolCases, withWorker } from "./soften.ts";

/** A tool of a program that may run. */
export interface ToolOfProgram {
  readonly outline: Outline;
  readonly program: Program;
  readonly host: Host;
  /** The store with its recorded calls. */
  readonly store: RunStore;
  readonly recordsOf: ProgramOfRun;
  /** As the program was compiled; `target` is an absolute path. */
  readonly compiled: Pick<CompileRequest, "providers"> & { readonly target: string };
}

/** The worker that takes the place of a tool, before it is written. Paths are relative to the program's folder. */
export interface Softening {
  readonly root: string;
  readonly name: string;
  readonly tool: Tool;
  readonly worker: string;
  /** New files with their texts; the worker is the last. */
  readonly files: ReadonlyMap<string, string>;
  /** Worker files that name the tool, and whose text changes. */
  readonly changes: readonly ChangedFile[];
  /** How many calls of the tool are recorded, and how many of them gave something. */
  readonly recorded: { readonly calls: number; readonly outputs: number };
}

export interface ChangedFile {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Makes the worker that takes the place of a tool, and tries it in a copy; writes nothing. `written`: `tools.ts:NAME`. Rejects with a
 * `CandidateError` that says why it cannot be, and with a `CompileError` if the copy does not compile.
 */
export async function planSoftening(written: string, of: ToolOfProgram): Promise<Softening> {
  const [, path, name] = /^(?:\.\/)?(.+\.[cm]?[jt]s):([A-Za-z_]\w*)$/.exec(written) ?? [];
  if (path === undefined || name === undefined) throw new CandidateError(`${written}: a tool is written tools.ts:NAME`);
  const { root } = of.outline;
  const { tool, callers } = findTool(of, { path, name });
  const obstacle = findObstacleToSoften(tool);
  if (obstacle !== undefined) throw new CandidateError(obstacle);
  const recorded = await readToolCalls(of.store, { tool: name, program: of.recordsOf });
  const folder = dirname(path) === "." ? "" : `${dirname(path)}/`;
  const worker = `${folder}${name}.worker`;
  const files = new Map([
    ...(recorded.length > 0 ? [[`${folder}${name}.cases.jsonl`, printToolCases(name, recorded)] as const] : []),
    [worker, printSoftened(tool, `${basename(path)}:${name}`, recorded)] as const,
  ]);
  const [taken] = await findTaken(root, files.keys());
  if (taken !== undefined) throw new CandidateError(`${taken}: there is such a file`);
  const changes = await changedCallers(of, callers, { name, preApproved: tool.approval === "pre-approved" });
  const counts = { calls: recorded.length, outputs: recorded.filter(({ output }) => output !== undefined).length };
  const plan = { root, name, tool, worker, files, changes, recorded: counts };
  await refuseMistakes(plan, of);
  return plan;
}

async function changedCallers(
  { host, outline }: ToolOfProgram,
  callers: readonly CallerOfTool[],
  worker: { readonly name: string; readonly preApproved: boolean },
): Promise<readonly ChangedFile[]> {
  const changes = callers.map(async ({ file, written }) => {
    const before = await host.files.readText(join(outline.root, file));
    return { file, before, after: withWorker(before, file, { ...worker, written }) };
  });
  return (await Promise.all(changes)).filter(({ before, after }) => before !== after);
}

/** Makes the change in a copy first. Rejects with a `CompileError` if it does not compile. */
async function refuseMistakes(plan: Softening, { host, compiled: { target, ...options } }: ToolOfProgram): Promise<void> {
  const scratch = await createScratchFolder(plan.root);
  try {
    await writeSoftening({ ...plan, root: scratch.path }, host);
    const copy = join(scratch.path, relative(plan.root, target));
    const { diagnostics } = await compileWith({ ...options, host, target: copy, trust: true }, {}, { copyOf: plan.root });
    if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  } finally {
    await host.files.remove(scratch.parent);
  }
}

/** All or nothing. Callers come first: what they say holds for the tool, too, and the worker takes over its name at the end. */
export async function writeSoftening({ root, changes, files }: Softening, host: Host): Promise<void> {
  const done: ChangedFile[] = [];
  try {
    for (const change of changes) {
      if ((await host.files.readText(join(root, change.file))) !== change.before)
        throw new CandidateError(`${change.file} has changed meanwhile: begin again`);
      await host.files.writeAtomically(join(root, change.file), change.after);
      done.push(change);
    }
    await writeNewFiles(root, files);
  } catch (thrown) {
    for (const { file, before } of done) await host.files.writeAtomically(join(root, file), before);
    throw thrown;
  }
}
