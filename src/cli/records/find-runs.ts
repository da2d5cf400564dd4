import { basename, dirname, join, resolve } from "node:path";
import { programInStore } from "../../boundary/program-in-store.ts";
import { manifestName } from "../../compile/load-manifest.ts";
import type { Host } from "../../host/host.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { openStore } from "../../journal/stores/find-store.ts";
import { importedStore } from "../../journal/stores/folder-store.ts";
import type { ProgramOfRun, RunFilter, RunStore, RunSummary } from "../../journal/stores/store.ts";
import { show } from "../../ui/explain/phrases.ts";
import { quoteNames } from "../../util/text/did-you-mean.ts";
import { isWithin } from "../../util/within.ts";
import { commandLine } from "../command-name.ts";
import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";

/** A run of the store that the command line uses. */
export interface FoundRun extends Pick<RunSummary, "began" | "ends" | "problem" | "waits" | "isSubmitted"> {
  readonly runId: string;
  /** The program's folder. */
  readonly root: string;
  /** The store that has its record. */
  readonly store: RunStore;
  /** Its record came from elsewhere: it can be looked at, and nothing in it counts. */
  readonly isForeign?: boolean;
}

/** The run that a command means. */
export interface RunChoice {
  /** An id, or `last`. */
  readonly run: string;
  /** The program's folder, or a worker file. Default: an id names a run of any program; `last` is of the program of this folder. */
  readonly target?: string | undefined;
  /**
   * True: where this folder is of no program, `last` is of the only program below it that has runs, and refused where there is none.
   * Default: it is the newest run of all programs then.
   */
  readonly changes?: boolean;
  /** True: a record that came from elsewhere is meant, too, whatever is done with it. Default: such a one can only be looked at. */
  readonly takesForeign?: boolean;
  /** What `last` passes over. Default: nothing. */
  readonly applies?: (run: FoundRun) => boolean | Promise<boolean>;
  /** Orders the runs that apply: `last` is the one with the highest number, and of equal ones the newest. Default: all are equal. */
  readonly rank?: (run: FoundRun) => number;
  /** Names a run that the command applies to. Default: `run`. */
  readonly what?: string;
}

/** No run applies to a command. */
export class NoSuchRun extends UsageError {
  /** The root of the program that was looked at; undefined for all programs. */
  readonly root: string | undefined;

  constructor(message: string, root: string | undefined) {
    super(message);
    this.root = root;
  }
}

export function storeOfUser(host: Host = createNodeHost()): RunStore {
  return openStore(host, undefined);
}

/** The runs of a program, or without one those of all programs, newest first. */
export async function findRuns(target: string | undefined): Promise<readonly FoundRun[]> {
  return takeFirst(streamRuns(target));
}

/** As `findRuns`, each read when it is its turn. `isForeign`: the runs whose records came from elsewhere. */
export async function* streamRuns(target: string | undefined, isForeign = false): AsyncIterable<FoundRun> {
  const host = createNodeHost();
  yield* runsOf(host, target === undefined ? {} : { program: await programAt(host, target) }, isForeign);
}

/** The first of many; no other is read. Default for `most`: all. */
export async function takeFirst<T>(many: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<readonly T[]> {
  const first: T[] = [];
  if (most === 0) return first;
  for await (const one of many) if (first.push(one) >= most) break;
  return first;
}

async function* runsOf(host: Host, filter: RunFilter, isForeign = false): AsyncIterable<FoundRun> {
  const store = isForeign ? importedStore(host) : storeOfUser(host);
  // A record that was found by its program names no other one, and in a database folders are those of another machine.
  const here = filter.program ? { root: filter.program.root } : {};
  for await (const { id, ...run } of store.list(filter))
    yield { runId: id, store, ...(isForeign ? { isForeign } : {}), ...run, ...here };
}

/** A record that came from elsewhere says so before anything else is shown of it. */
function foreignRun(run: FoundRun, { changes, takesForeign }: RunChoice): FoundRun {
  const from = `the record of ${run.runId} came from elsewhere`;
  if (takesForeign) return run;
  if (changes)
    throw new UsageError(
      `${from}, and nothing in it counts: \`${commandLine("runs", "adopt", run.runId)}\` takes over what happened`,
    );
  writeStderr(`llm-do: ${from}: what it says is not vouched for\n`);
  return run;
}

/** Finds the run that a command means. Rejects with a `UsageError` if there is none, and if `last` is anybody's guess. */
export async function findRun(choice: RunChoice): Promise<FoundRun> {
  const host = createNodeHost();
  await refuseSwapped(host, choice);
  return choice.run === "last" ? findLast(host, choice) : findById(host, choice);
}

async function findById(host: Host, choice: RunChoice): Promise<FoundRun> {
  const { run, target } = choice;
  const filter = { ...(target === undefined ? {} : { program: await programAt(host, target) }), id: run };
  const [only, ...copies] = await takeFirst(runsOf(host, filter));
  if (copies.length > 0) throw new UsageError(`two records have the id \`${run}\`: one is a copy, so remove it`);
  if (only) return only;
  const [foreign] = await takeFirst(runsOf(host, { id: run }, true));
  if (foreign) return foreignRun(foreign, choice);
  if (target === undefined)
    throw new UsageError(`there is no run \`${run}\`; \`${commandLine("runs", "list")}\` names what there is`);
  throw new UsageError(`there is no run \`${run}\` of \`${target}\`${await listRuns(host, filter.program)}`);
}

async function findLast(host: Host, choice: RunChoice): Promise<FoundRun> {
  const { target, changes = false, applies, rank, what = "run" } = choice;
  const here = target === undefined ? await programOfHere(host, changes) : await programAt(host, target);
  const program = here ?? (changes ? await onlyProgramBelow(host) : undefined);
  const runs = runsOf(host, program ? { program } : {});
  if (!program && changes)
    throw new UsageError(`${host.workingDirectory} is in no program, so \`last\` means no run here${await listRuns(host)}`);
  let best: FoundRun | undefined;
  for await (const found of runs) {
    if (applies && !(await applies(found))) continue;
    if (program && target === undefined && !changes && !applies) await nameNewer(host, found);
    if (!rank) return found;
    if (!best || rank(found) > rank(best)) best = found;
  }
  if (best) return best;
  const whose =
    target === undefined && program
      ? await describeProgramOfHere(host, program)
      : program && `the program in ${show(program.root)}`;
  const others = (await listRuns(host, program)) || `; \`${commandLine("runs", "list")}\` names what there is`;
  throw new NoSuchRun(`there is no ${what}${whose ? ` for ${whose}` : ""}${others}`, program?.root);
}

/**
 * The program below the working directory that has runs, whatever links a record names. Rejects with a `UsageError` if several have, whether
 * a command applies to them or not.
 */
async function onlyProgramBelow(host: Host): Promise<ProgramOfRun | undefined> {
  const { workingDirectory } = host;
  let only: ProgramOfRun | undefined;
  for await (const { root } of runsOf(host, {})) {
    if (root === only?.root || !root.startsWith(join(workingDirectory, "/"))) continue;
    const program = await programIn(host, root);
    if (!isWithin(program.root, workingDirectory)) continue;
    if (only && program.root !== only.root)
      throw new UsageError(
        `\`last\` could be of ${show(only.root)} or of ${show(program.root)}: name the program behind it, as in \`last ${show(only.root)}\``,
      );
    only = program;
  }
  return only;
}

/** Says that another program has a newer run than the program of this folder. */
async function nameNewer(host: Host, { runId, root }: FoundRun): Promise<void> {
  const [newest] = await takeFirst(runsOf(host, {}), 1);
  if (newest && newest.runId !== runId && newest.root !== root)
    writeStderr(`llm-do: \`last\` is of the program in ${show(root)}; ${newest.runId} of ${show(newest.root)} is newer\n`);
}

/** Rejects with a `UsageError` if a program stands in the place of the run. */
async function refuseSwapped({ files, workingDirectory }: Host, { run, target }: RunChoice): Promise<void> {
  const isThere = async (path: string) => (await files.kind(resolve(workingDirectory, path))) !== undefined;
  if (run === "last" || idOfRun.test(run) || !(await isThere(run)) || (target !== undefined && (await isThere(target)))) return;
  throw new UsageError(`\`${run}\` is no run, and the run comes before its program: \`${target ?? "last"} ${run}\``);
}

/** The runs of a program, or without one of that of this folder, newest first. Rejects with a `UsageError` if there is none. */
export async function findRunsToChange(target: string | undefined): Promise<readonly FoundRun[]> {
  const host = createNodeHost();
  const program = target === undefined ? await programOfHere(host) : await programAt(host, target);
  if (program) return takeFirst(runsOf(host, { program }));
  throw new UsageError(`${host.workingDirectory} is in no program: name its folder${await listRuns(host)}`);
}

/** The form of the ids that runs are given. */
const idOfRun = /^\d{8}-\d{6}-\w{6}$/;

/** How many runs a message lists. */
const mostListed = 10;

/** Continues a message with the newest runs of a program, or of all programs where it has none. Empty if there is none. */
async function listRuns(host: Host, program?: ProgramOfRun): Promise<string> {
  const own = program ? await takeFirst(runsOf(host, { program }), mostListed) : [];
  const listed = own.length > 0 ? own : await takeFirst(runsOf(host, {}), mostListed);
  const lines = listed.map(({ runId, root }) => `\n  ${runId}  ${show(root)}`);
  return lines.length > 0 ? `; name one of your runs:${lines.join("")}` : "";
}

/** Names the file that makes a folder above the working directory the program of it. */
async function describeProgramOfHere({ files, workingDirectory }: Host, { root }: ProgramOfRun): Promise<string> {
  const names = await files.names(root).catch(() => []);
  const named = [manifestName, "main.worker"].find((name) => names.some((other) => other === name));
  const file = named ?? names.find((name) => name.endsWith(".worker"));
  const why = file === undefined ? "" : ` (${join(root, file)} makes ${workingDirectory} a part of it)`;
  return `the program in ${show(root)}${why}`;
}

/** The program that a command means. Default: that of this folder. Rejects with a `UsageError` if there is none. */
export async function programOfTarget(target: string | undefined): Promise<ProgramOfRun> {
  const host = createNodeHost();
  const program = target === undefined ? await programOfHere(host) : await programAt(host, target);
  if (!program) throw new UsageError(`${host.workingDirectory} is in no program: ${await describeFolders(host)}`);
  return program;
}

/** Says that a folder holds no program, and which of its folders do. Empty for a program. */
export async function describeNoProgram(target: string): Promise<string> {
  const host = createNodeHost();
  const workingDirectory = resolve(host.workingDirectory, target);
  const names = await host.files.names(workingDirectory).catch(() => undefined);
  if (!names || names.some(isProgramFile)) return "";
  return `, which is no program: ${await describeFolders({ files: host.files, workingDirectory })}`;
}

const isProgramFile = (name: string) => name === manifestName || name.endsWith(".worker");

/** Names the programs in the folders of the working directory: the ones that are probably meant. */
async function describeFolders({ files, workingDirectory }: Pick<Host, "files" | "workingDirectory">): Promise<string> {
  const names = await files.names(workingDirectory).catch((): readonly string[] => []);
  const entries = await Promise.all(names.map((name) => files.kind(join(workingDirectory, name, "main.worker"))));
  const programs = names.filter((_, index) => entries[index] === "file");
  const shown = programs.length === 0 ? "" : `, such as ${quoteNames(programs.slice(0, mostListed), " or ")}`;
  return `go into the folder of one, or name it at the end of the line${shown}`;
}

/** The program of a folder, or of a worker file. Rejects with a `UsageError` if there is nothing. */
async function programAt(host: Host, target: string): Promise<ProgramOfRun> {
  const path = resolve(host.workingDirectory, target);
  if ((await host.files.kind(path)) === undefined) throw new UsageError(`there is no \`${target}\``);
  return programIn(host, path.endsWith(".worker") ? programOf(path) : path);
}

/** The nearest program from the working directory upwards. `withCode`: programs without files count, which records alone know. */
async function programOfHere(host: Host, withCode = true): Promise<ProgramOfRun | undefined> {
  const store = storeOfUser(host);
  for (let folder = host.workingDirectory; ; folder = dirname(folder)) {
    const names = await host.files.names(folder).catch(() => []);
    const isProgram = names.some(isProgramFile);
    const program = await programIn(host, isProgram ? programOf(join(folder, "x")) : folder);
    if (isProgram) return program;
    // Programs in code, and of files that were listed, have no file by which to know their folder.
    if (withCode) for await (const _ of store.list({ program })) return program;
    if (dirname(folder) === folder) return undefined;
  }
}

function programIn(host: Host, folder: string): Promise<ProgramOfRun> {
  return programInStore(host, storeOfUser(host), folder);
}

/** Helpers lie in `workers/` below the program's folder. */
function programOf(worker: string): string {
  const folder = dirname(worker);
  return basename(folder) === "workers" ? dirname(folder) : folder;
}

/** Throws a `UsageError` for a run that cannot be read: an older one is not the one that `last` means. */
export function requireReadable({ runId, root, problem }: FoundRun): void {
  if (problem === undefined) return;
  const other = `name the run that you mean, or remove this one: \`${commandLine("runs", "rm", runId)}\``;
  throw new UsageError(`the run ${runId} of ${show(root)} cannot be read: ${show(problem)}; ${other}`);
}
