import { basename, dirname, join, resolve } from "node:path";
import type { Host } from "../host/host.ts";
import { removeScopeFile } from "../host/scopes/remove-scope-file.ts";
import { ScopeError, type Scopes } from "../host/scopes/scopes.ts";
import type { Journal } from "../journal/journal.ts";
import { readJournal } from "../journal/read-journal.ts";
import { type PrivateContents, readSecrets } from "../journal/secret-keeper.ts";
import { type FoundRecord, findRecord, type RunReference } from "../journal/stores/find-store.ts";
import { CannotResume, type RecordReader } from "../journal/stores/record-place.ts";
import { type LoggedWrite, readWriteLog } from "../journal/write-log.ts";
import type { Program } from "../program/program.ts";
import { type CallPath, parentCallPath } from "../protocol/call.ts";
import type { FactOf, JournalEntry } from "../protocol/fact.ts";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import { environmentSecrets, Redactor } from "../util/secrets/redactor.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { isWithin } from "../util/within.ts";

/** A file that a run wrote. */
export interface UndoneFile {
  /** Absolute. */
  readonly path: string;
  /**
   * `restore`: to its content before the run; `remove`: the run made it; `same`: it is as it was before; `changed`: it was
   * changed after the run wrote it, and stays; `not-kept`: its content before was too large to be kept, and it stays; `outside`: it is
   * in no folder of `within`, and stays; `program`: it belongs to `program`, so that no file tool can have written it, and stays;
   * `failed`: it could not be written.
   */
  readonly action: "restore" | "remove" | "same" | "changed" | "not-kept" | "outside" | "program" | "failed";
  /** Content now, and content to be restored; null for no file. Only of `restore` and `remove`. */
  readonly now?: Uint8Array | null;
  readonly before?: Uint8Array | null;
  /** Present if something else changed the file between two writes of the run: earlier writes stay. */
  readonly isPartial?: boolean;
  /** Of `failed`. */
  readonly error?: string;
}

/** A call that changed something of which nothing is kept. */
export interface LastingCall {
  readonly callPath: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Present for a call of a file tool: its write could be taken back if the content before were kept. */
  readonly isOfFile?: true;
}

export interface UndoPlan {
  readonly runId: string;
  /** The file that was written last comes first. */
  readonly files: readonly UndoneFile[];
  /**
   * Calls of tools with side effects that stay: all but those of file tools, and these, too, if the content before is not kept.
   */
  readonly lasting: readonly LastingCall[];
}

export interface UndoReport extends UndoPlan {
  /** False if `confirm` said no, or there was nothing to do. */
  readonly isDone: boolean;
}

export interface UndoOptions extends RunReference {
  /** The path of a call: only its writes, with those of the calls below it, are taken back. Default: all writes of the run. */
  readonly call?: CallPath;
  /**
   * Absolute paths of folders: files elsewhere stay. A record names the folders that it wrote in, and a store that others write can name
   * any. Default: all that the record names.
   */
  readonly within?: readonly string[];
  /**
   * The program of the run: what its file tools cannot write stays as it is, whatever the record says. Default: a record is believed.
   */
  readonly program?: Pick<Program, "root" | "protectedPaths" | "codeFolders">;
  /** Called with the plan, before anything is done. False: nothing is done. Default: it is done. */
  readonly confirm?: (plan: UndoPlan) => boolean | Promise<boolean>;
}

/** Takes back the writes of a run. Rejects with a `CannotResume`, an `UnreadableJournal` or a `JournalError`. */
export async function undoRun(host: Host, options: UndoOptions): Promise<UndoReport> {
  const { call, within, program, confirm, directory, run, store } = options;
  const found = findRecord(host, { directory, run, store });
  const { plan, steps } = await found.store.look(found.id, (record) => planUndo(host, record, { call, within, program }));
  const isWanted = steps.some(isChange) && (confirm === undefined || (await confirm(plan)));
  if (!isWanted) return { ...plan, isDone: false };
  const journal = await recordUndo(host, found, steps);
  try {
    const files: UndoneFile[] = [];
    for (const step of steps) files.push(isChange(step) ? await takeBack(host, step) : step.file);
    return { ...plan, files, isDone: true };
  } finally {
    await journal.close();
  }
}

interface PlannedUndo {
  readonly plan: UndoPlan;
  readonly steps: readonly UndoStep[];
}

interface UndoChoice extends Omit<UndoBounds, "kept"> {
  readonly call: CallPath | undefined;
}

async function planUndo(host: Host, record: RecordReader, { call, ...bounds }: UndoChoice): Promise<PlannedUndo> {
  const { entries } = await readJournal(record);
  const kept = await readSecrets(record);
  if (call !== undefined) checkCall(entries, call);
  const writes = await readWriteLog(record);
  const effects = effectsOf(entries, writes);
  const steps = kept ? await planSteps(host, writesOf(call, writes, effects), { ...bounds, kept }) : [];
  const lasting = effects
    .filter(({ callPath, isFileTool }) => isAtOrBelow(callPath, call) && !(kept && isFileTool))
    .map(({ isFileTool, ...named }) => (isFileTool ? { ...named, isOfFile: true as const } : named));
  return { plan: { runId: record.id, files: steps.map(({ file }) => file), lasting }, steps };
}

/** The action for one file. `identity`: of the file as it is now; undefined if there is none. */
interface UndoStep {
  readonly file: UndoneFile;
  readonly last: LoggedWrite;
  readonly identity: string | undefined;
}

function isChange({ file: { action } }: UndoStep): boolean {
  return action === "restore" || action === "remove";
}

interface UndoBounds {
  readonly kept: PrivateContents;
  readonly within: readonly string[] | undefined;
  readonly program: UndoOptions["program"];
}

async function planSteps(host: Host, writes: readonly LoggedWrite[], { kept, within, program }: UndoBounds): Promise<UndoStep[]> {
  const folders = await Promise.all((within ?? []).map((path) => realPathOf(host, path)));
  const byFile = Map.groupBy(writes.toReversed(), ({ root, components }) => join(root, ...components));
  const steps: UndoStep[] = [];
  for (const [path, newestFirst] of byFile) {
    const [last] = newestFirst as [LoggedWrite];
    const root = await realPathOf(host, last.root);
    const isOutside =
      within !== undefined && !(resolve(last.root) === last.root && folders.some((folder) => isWithin(root, folder)));
    const outside: UndoStep = { file: { path, action: "outside" }, last, identity: undefined };
    steps.push(isOutside ? outside : await planStep(host, { path, newestFirst, kept, program }));
  }
  return steps;
}

/** The real path; of a folder that is gone, that of the nearest one with the rest. */
async function realPathOf(host: Host, path: string): Promise<string> {
  const real = await host.files.realPath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realPathOf(host, dirname(path)), basename(path));
}

interface ScopeUse<T> {
  readonly use: (scopes: Scopes) => Promise<T>;
  readonly missingRoots: "make" | "pretend";
  readonly program?: UndoOptions["program"];
}

interface WrittenFile {
  readonly path: string;
  readonly newestFirst: readonly LoggedWrite[];
  readonly kept: PrivateContents;
  readonly program: UndoOptions["program"];
}

async function planStep(host: Host, { path, newestFirst, kept, program }: WrittenFile): Promise<UndoStep> {
  const [last] = newestFirst as [LoggedWrite];
  const current = await inScope(host, last, { use: (scopes) => readNow(scopes, last), missingRoots: "pretend", program }).catch(
    () => undefined,
  );
  const identity = current?.identity;
  if (!current) return { file: { path, action: "changed" }, last, identity };
  if (current.isOfProgram) return { file: { path, action: "program" }, last, identity };
  const found = current.bytes && kept.secrets.digest(current.bytes);
  const { before, writes } = goBack(newestFirst, found);
  if (writes === 0) return { file: { path, action: found === newestFirst.at(-1)?.before ? "same" : "changed" }, last, identity };
  const content = typeof before === "string" ? await kept.readBlob(before).catch(() => undefined) : before;
  if (content === undefined) return { file: { path, action: "not-kept" }, last, identity };
  const action = content === null ? "remove" : "restore";
  const more = writes < newestFirst.length ? { isPartial: true } : {};
  return { file: { path, action, now: current.bytes, before: content, ...more }, last, identity };
}

/** Goes from write to write, while each one left the content that the later one found. Returns the content before, and how many writes that are. */
function goBack(newestFirst: readonly LoggedWrite[], found: string | null) {
  let before: string | null | undefined = found;
  let writes = 0;
  for (const write of newestFirst) {
    // A write that was logged and did not happen leaves the content that it found.
    if (write.after !== before && write.before !== before) break;
    if (write.after === before) before = write.before;
    writes++;
  }
  return before === found ? { before, writes: 0 } : { before, writes };
}

/** Runs a function with the folder of a write as a scope, so that no link leads out of it. */
async function inScope<T>(host: Host, { root }: LoggedWrite, { use, missingRoots, program }: ScopeUse<T>): Promise<T> {
  const places = program && {
    programFolder: program.root,
    programFiles: program.protectedPaths,
    codeFolders: program.codeFolders,
  };
  const scopes = await host.openScopes([{ name: ".", root, realRoot: root, mode: "rw" }], { missingRoots, ...places });
  return use(scopes).finally(() => scopes.close());
}

/** `bytes` is null for a file that does not exist. */
async function readNow(scopes: Scopes, { components }: LoggedWrite) {
  const path = components.join("/");
  const isOfProgram = scopes.protection(scopes.resolve(path)) === "program";
  try {
    const { bytes, facts } = await scopes.read(path);
    return { bytes, identity: facts.identity, isOfProgram };
  } catch (thrown) {
    if (thrown instanceof ScopeError && thrown.type === "not_found") return { bytes: null, identity: undefined, isOfProgram };
    throw thrown;
  }
}

async function takeBack(host: Host, { file, last, identity }: UndoStep): Promise<UndoneFile> {
  const path = last.components.join("/");
  const { before } = file;
  try {
    const use = async (scopes: Scopes): Promise<void> => {
      if (before) await scopes.write(path, before, { expect: identity });
      else if (identity !== undefined) await removeScopeFile(scopes, path, identity);
    };
    await inScope(host, last, { use, missingRoots: "make" });
    return file;
  } catch (thrown) {
    if (thrown instanceof ScopeError && thrown.type === "changed") return { path: file.path, action: "changed" };
    return { path: file.path, action: "failed", error: errorMessage(thrown) };
  }
}

/** Records the plan: whatever becomes of it, the run does not go on. The caller closes the journal. */
async function recordUndo(host: Host, { store, id }: FoundRecord, steps: readonly UndoStep[]): Promise<Journal> {
  const named = (...actions: UndoneFile["action"][]) =>
    steps.flatMap(({ file, last }) => (actions.includes(file.action) ? [last.path] : []));
  const undo: FactOf<"undo"> = {
    type: "undo",
    restored: named("restore"),
    removed: named("remove"),
    left: named("changed", "not-kept", "outside", "program"),
  };
  const known = environmentSecrets(host.environment);
  const { journal } = await store.open(id, {
    ...{ known, takeOver: false, isUndo: true },
    createRedactor: (secrets) => new Redactor(known, secrets),
    begin: () => [undo],
  });
  return journal;
}

const fileTools = new Set(["write_file", "append_file", "edit_file"]);

interface CallEffect extends LastingCall {
  /** True if its effect is a file that a scope wrote, and nothing else. */
  readonly isFileTool: boolean;
}

/**
 * The calls of tools with side effects that began, without those of file tools that failed and wrote nothing. One can fail after it
 * replaced the file: more writes of its worker to that file are logged then than calls succeeded.
 */
function effectsOf(entries: readonly JournalEntry[], writes: readonly LoggedWrite[]): readonly CallEffect[] {
  const verdicts = new Map<string, FactOf<"verdict">>();
  const failed = new Map<CallPath, boolean>();
  const calls: CallEffect[] = [];
  for (const entry of entries) {
    if (entry.type === "verdict") verdicts.set(entry.callPath, entry);
    if (entry.type === "result" && entry.kind === "tool") failed.set(entry.callPath, hasFailed(entry));
    if (entry.type !== "intent" || entry.kind !== "tool" || !entry.sideEffect) continue;
    const { tool, args, recorded } = verdicts.get(entry.callPath) ?? { tool: entry.key, args: {} };
    calls.push({ callPath: entry.callPath, tool, args, isFileTool: recorded !== undefined && fileTools.has(tool) });
  }
  const succeeded = calls.filter(({ callPath, isFileTool }) => isFileTool && failed.get(callPath) === false);
  const mayHaveWritten = (call: CallEffect) =>
    writesTo(call, writes).length > succeeded.filter((one) => isOfSameFile(one, call)).length;
  return calls.filter((call) => !call.isFileTool || failed.get(call.callPath) !== true || mayHaveWritten(call));
}

/** The log names the worker whose tool wrote. */
function writesTo({ callPath, args }: CallEffect, writes: readonly LoggedWrite[]): readonly LoggedWrite[] {
  return writes.filter((write) => write.callPath === parentCallPath(callPath) && write.path === args["path"]);
}

function isOfSameFile(one: CallEffect, other: CallEffect): boolean {
  return parentCallPath(one.callPath) === parentCallPath(other.callPath) && one.args["path"] === other.args["path"];
}

function hasFailed({ outcome }: FactOf<"result">): boolean {
  return outcome.type === "value" && isRecord(outcome.value) && outcome.value["ok"] === false;
}

function isAtOrBelow(path: CallPath, call: CallPath | undefined): boolean {
  return call === undefined || path === call || path.startsWith(`${call}/`);
}

function checkCall(entries: readonly JournalEntry[], call: CallPath): void {
  if (entries.some((entry) => "callPath" in entry && entry.callPath === call)) return;
  throw new CannotResume(`there is no call \`${call}\` in this run: a path such as \`main/0.write_file\` names one`);
}

/** A call of a file tool is found by its file, which no other call of its worker may have written. */
function writesOf(call: CallPath | undefined, writes: readonly LoggedWrite[], effects: readonly CallEffect[]) {
  const file = effects.find(({ callPath, isFileTool }) => isFileTool && callPath === call);
  if (!file) return writes.filter(({ callPath }) => isAtOrBelow(callPath, call));
  const ofFile = effects.filter((one) => isOfSameFile(one, file));
  if (ofFile.length > 1) {
    const worker = parentCallPath(file.callPath);
    throw new CannotResume(
      `several calls of \`${worker}\` wrote \`${file.args["path"]}\`: ${ofFile.map(({ callPath }) => callPath).join(", ")}; take back all that \`${worker}\` wrote`,
    );
  }
  return writesTo(file, writes);
}
