import { basename, dirname, join } from "node:path";
import type { AppendFile, Host, HostFiles } from "../src/host/host.ts";
import type { OwnFolder } from "../src/host/own-files/own-folder.ts";
import * as reading from "../src/journal/read-journal.ts";
import { FolderPlace, keyOf } from "../src/journal/stores/folder-store.ts";
import type { RecordPlace } from "../src/journal/stores/record-place.ts";
import type { Secret } from "../src/util/secrets/redactor.ts";

type FileHost = Pick<Host, "files">;

/** The folder of a program's runs in the user's store. `state`: the state folder; by default that of a memory host. */
export function runsIn(root: string, state = "/home/user/.local/state/llm-do"): string {
  return join(state, "runs", keyOf({ root }, false));
}

/** The folder of a program's runs where `run-cli.ts` runs commands: its state folder is beside the program. */
export function cliRuns(root: string): string {
  return runsIn(root, join(dirname(root), "state"));
}

/** Opens the record in a folder. */
export async function placeOf({ files }: FileHost, directory: string): Promise<RecordPlace> {
  return new FolderPlace(basename(directory), await files.openOwn(directory));
}

async function look<T>(host: FileHost, directory: string, use: (place: RecordPlace) => Promise<T>): Promise<T> {
  const place = await placeOf(host, directory);
  return use(place).finally(() => place.close());
}

export function readJournal(host: FileHost, directory: string): Promise<reading.JournalContents> {
  return look(host, directory, reading.readJournal);
}

export function readJournalEnds(host: FileHost, directory: string): Promise<reading.JournalEnds> {
  return look(host, directory, reading.readJournalEnds);
}

export function readRecord(host: FileHost, directory: string, known: readonly Secret[] = []): Promise<reading.RunRecord> {
  return look(host, directory, (place) => reading.readRecord(place, known));
}

/** Removes what a record keeps apart from its journal: secrets, and the files that hold some. */
export async function dropSecrets({ files }: FileHost, directory: string): Promise<boolean> {
  const hasSome = (await files.kind(join(directory, "secrets.jsonl"))) !== undefined;
  for (const name of ["secrets.jsonl", "private", "writes.jsonl"]) await files.remove(join(directory, name));
  return hasSome;
}

/** Files whose own folders have other members. */
export function withFolders(files: HostFiles, change: (folder: OwnFolder) => Partial<OwnFolder>): HostFiles {
  const wrap = (folder: OwnFolder): OwnFolder => ({
    path: folder.path,
    read: (name, bytes) => folder.read(name, bytes),
    readEnds: (name, bytes) => folder.readEnds(name, bytes),
    openAppend: (name) => folder.openAppend(name),
    write: (name, content) => folder.write(name, content),
    entries: () => folder.entries(),
    has: (name) => folder.has(name),
    rename: (from, to) => folder.rename(from, to),
    open: async (name, options) => wrap(await folder.open(name, options)),
    create: async (name) => wrap(await folder.create(name)),
    remove: (name) => folder.remove(name),
    alone: (name, fn) => folder.alone(name, fn),
    close: () => folder.close(),
    ...change(folder),
  });
  return { ...files, openOwn: async (path, options) => wrap(await files.openOwn(path, options)) };
}

/** Files whose logs of records are wrapped when they are opened. */
export function withAppends(files: HostFiles, wrap: (path: string, file: AppendFile) => AppendFile): HostFiles {
  return withFolders(files, (folder) => ({
    openAppend: async (name) => wrap(join(folder.path, name), await folder.openAppend(name)),
  }));
}
