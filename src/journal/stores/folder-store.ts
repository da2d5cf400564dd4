import { basename, join } from "node:path";
import type { Host } from "../../host/host.ts";
import type { OwnFolder } from "../../host/own-files/own-folder.ts";
import { isRecord } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { sha256 } from "../../util/sha256.ts";
import type { RecordHost } from "../record.ts";
import { PlacedStore, type Places, type ProgramRuns } from "./placed-store.ts";
import { CannotResume, type LogName, mostOfLog, type PartName, type RecordPlace } from "./record-place.ts";
import type { NewRun, ProgramOfRun } from "./store.ts";

export type StoreHost = RecordHost & Pick<Host, "files" | "stateDirectory" | "environment" | "workingDirectory">;

/** The user's own store: `runs/PROGRAM/RUN/` in the state folder. */
export function userStore(host: StoreHost): PlacedStore {
  return new PlacedStore(host, new FolderPlaces(host, join(host.stateDirectory, "runs"), false));
}

/**
 * Records that came from elsewhere: they can be looked at, and nothing in them counts. They lie apart, so that none of them is taken for one
 * that llm-do made here.
 */
export function importedStore(host: StoreHost): PlacedStore {
  return new PlacedStore(host, new FolderPlaces(host, join(host.stateDirectory, "imported"), false));
}

/**
 * Gives the records of a program whose folder was moved their new folder, in the store of this path and among those from elsewhere. `from`,
 * `to`: real paths. Resolves with the number of folders of records.
 */
export async function moveRecords(host: StoreHost, path: string, { from, to }: { readonly from: string; readonly to: string }) {
  const own = join(host.stateDirectory, "runs");
  const imported = new FolderPlaces(host, join(host.stateDirectory, "imported"), false);
  return (await new FolderPlaces(host, path, path !== own).move(from, to)) + (await imported.move(from, to));
}

/** A store that the user names. `path`: absolute. Its programs go by the names of their manifests, wherever they lie. */
export function namedStore(host: StoreHost, path: string): PlacedStore {
  return new PlacedStore(host, new FolderPlaces(host, path, true));
}

export const runIdPattern = /^\d{8}-\d{6}-\w+$/;

/** Returns the name of a program's folder in a store. `isNamed`: in one that the user named. */
export function keyOf({ root, name }: ProgramOfRun, isNamed: boolean): string {
  const text = isNamed && name !== undefined ? name : root;
  const readable = basename(text)
    .replace(/[^\w.-]+/g, "_")
    .replace(/^\.+/, "")
    .slice(0, 40);
  return isNamed && name !== undefined && readable === name ? name : `${readable}-${sha256(text).slice(0, 16)}`;
}

/** A store in folders: `PROGRAM/RUN/`. */
class FolderPlaces implements Places {
  readonly path: string;
  readonly #host: StoreHost;
  readonly isOwn: boolean;
  readonly #isNamed: boolean;

  constructor(host: StoreHost, path: string, isNamed: boolean) {
    this.#host = host;
    this.path = path;
    this.#isNamed = isNamed;
    this.isOwn = !isNamed;
  }

  async create({ id, program, isTrusted = false }: Pick<NewRun, "id" | "program" | "isTrusted">) {
    const { folder: store, notes } = await this.#openToWrite();
    const key = keyOf(program, this.#isNamed);
    const runs = await using(store, () => store.open(key, { make: true }));
    try {
      await this.#checkFolder(runs, program, isTrusted);
      if (!(await runs.has(programFile))) await runs.write(programFile, `${JSON.stringify({ v: 1, ...program })}\n`);
      const place = new FolderPlace(id, await runs.create(id));
      return { place, runs: new FolderRuns(runs, program.root), notes };
    } catch (thrown) {
      await runs.close();
      throw thrown;
    }
  }

  /** The state folder is opened first: it is made for its owner alone, and what lies in it with it. */
  async #openToWrite(): Promise<{ readonly folder: OwnFolder; readonly notes: readonly string[] }> {
    const { files, stateDirectory } = this.#host;
    if (this.#isNamed) return { folder: await files.openOwn(this.path, { make: true, isShared: true }), notes: [] };
    const state = await files.openOwn(stateDirectory, { make: true });
    return {
      folder: await using(state, () => state.open(basename(this.path), { make: true })),
      notes: state.note ? [state.note] : [],
    };
  }

  /** Rejects if a name stands for another folder, and nobody said that they are the same program. */
  async #checkFolder(runs: OwnFolder, { root, name }: ProgramOfRun, isTrusted: boolean): Promise<void> {
    if (await this.#isSame(await this.#rootOf(runs), { root }, runs)) return;
    // Listing takes longer with each record. The program's file is written before a run's folder is made: it is read again.
    const hasRuns = (await runs.entries()).some(({ name: entry }) => runIdPattern.test(entry));
    const known = await this.#rootOf(runs);
    if (await this.#isSame(known, { root }, runs)) return;
    if (known === undefined && !hasRuns) return;
    if (!isTrusted)
      throw new CannotResume(
        `${this.path} has runs of \`${name}\` from ${known ?? "another folder"}: --trust takes ${root} for the same program from now on`,
      );
    const folder = await this.#host.files.openOwn(join(this.#host.stateDirectory, "stores"), { make: true });
    await using(folder, () => folder.write(this.#consentOf(runs, root), `${JSON.stringify({ v: 1, store: runs.path, root })}\n`));
  }

  /** Returns whether the runs of a name in this store are those of a program in a folder, by its place or by an earlier answer. */
  async #isSame(known: string | undefined, { root }: ProgramOfRun, runs: OwnFolder): Promise<boolean> {
    if (!this.#isNamed || known === root) return true;
    const { files, stateDirectory } = this.#host;
    return (await files.kind(join(stateDirectory, "stores", this.#consentOf(runs, root)))) !== undefined;
  }

  /**
   * The program of a folder, as its first run knew it. Undefined if its file is gone; in the user's own store, where names of folders are
   * digests, also where the file names another program.
   */
  async #rootOf(folder: OwnFolder): Promise<string | undefined> {
    const content = await folder.read(programFile, 100_000).catch(() => "{}");
    const program = parseJson(Buffer.from(content).toString("utf8"));
    const root = isRecord(program) && typeof program["root"] === "string" ? program["root"] : undefined;
    return root === undefined || this.#isNamed || isFolderOf(basename(folder.path), keyOf({ root }, false)) ? root : undefined;
  }

  #consentOf({ path }: OwnFolder, root: string): string {
    return `${sha256(JSON.stringify([path, root])).slice(0, 32)}.json`;
  }

  async #open(): Promise<OwnFolder | undefined> {
    return this.#host.files.openOwn(this.path, { isShared: this.#isNamed }).catch(absent);
  }

  async find(id: string) {
    const holders = runIdPattern.test(id) ? await this.#holdersOf(id) : [];
    const [first, ...others] = holders;
    if (!first) throw new CannotResume(`there is no run \`${id}\` in ${this.path}`);
    const [other] = others;
    if (other) {
      const places = holders.map(({ path }) => `${path}/${id}`).join(" and ");
      for (const one of holders) await one.close();
      throw new CannotResume(`two records have the id \`${id}\`: ${places}; one is a copy, so neither goes on: remove it`);
    }
    const root = await this.#rootOf(first);
    if (root === undefined) {
      await first.close();
      throw new CannotResume(
        `${join(first.path, programFile)} does not name the program of the runs in its folder: remove that folder`,
      );
    }
    const runs = new FolderRuns(first, root);
    return { place: await runs.open(id), runs };
  }

  /** The open folders of programs that have a run. */
  async #holdersOf(id: string): Promise<readonly OwnFolder[]> {
    const store = await this.#open();
    if (!store) return [];
    return using(store, async () => {
      const holders: OwnFolder[] = [];
      for (const { name, type } of await store.entries()) {
        if (type !== "directory") continue;
        const folder = await store.open(name);
        if (await folder.has(id)) holders.push(folder);
        else await folder.close();
      }
      return holders;
    });
  }

  async programs(program: ProgramOfRun | undefined): Promise<readonly ProgramRuns[]> {
    const store = await this.#open();
    if (!store) return [];
    return using(store, async () => {
      const key = program && keyOf(program, this.#isNamed);
      const names = (await store.entries()).flatMap(({ name, type }) =>
        type === "directory" && (key === undefined || isFolderOf(name, key)) ? [name] : [],
      );
      const found: ProgramRuns[] = [];
      for (const name of names) {
        const folder = await store.open(name);
        // The name of a folder of the user's own store says whose it is.
        const root = program && !this.#isNamed ? program.root : await this.#rootOf(folder);
        // Runs of no known program are listed: none of them is found by its id, to go on or to be changed.
        const isWanted = !program || (await this.#isSame(root, program, folder));
        if (isWanted) found.push(new FolderRuns(folder, root ?? folder.path));
        else await folder.close();
      }
      return found;
    });
  }

  async move(from: string, to: string): Promise<number> {
    const store = await this.#open();
    if (!store) return 0;
    return using(store, async () => {
      let moved = 0;
      for (const { name, type } of await store.entries()) {
        if (type !== "directory" || (await using(await store.open(name), (folder) => this.#rootOf(folder))) !== from) continue;
        const key =
          this.#isNamed && !name.startsWith(keyOf({ root: from }, false))
            ? name
            : await freeKey(store, keyOf({ root: to }, false));
        if (key !== name) await store.rename(name, key);
        await using(await store.open(key), async (folder) => {
          const program = parseJson(Buffer.from(await folder.read(programFile, 100_000)).toString("utf8"));
          await folder.write(programFile, `${JSON.stringify({ ...(isRecord(program) ? program : { v: 1 }), root: to })}\n`);
        });
        moved++;
      }
      return moved;
    });
  }

  async remove(id: string): Promise<void> {
    for (const holder of await this.#holdersOf(id)) await using(holder, () => holder.remove(id));
  }
}

/** True for the folder of a program in a store, and for one that was moved to where that was taken. */
function isFolderOf(name: string, key: string): boolean {
  return name === key || (name.startsWith(`${key}.`) && /^\d+$/.test(name.slice(key.length + 1)));
}

async function freeKey(store: OwnFolder, key: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? key : `${key}.${number}`;
    if (!(await store.has(name))) return name;
  }
}

const programFile = "program.json";
const indexFile = "index.jsonl";

class FolderRuns implements ProgramRuns {
  readonly root: string;
  readonly #folder: OwnFolder;

  constructor(folder: OwnFolder, root: string) {
    this.#folder = folder;
    this.root = root;
  }

  async ids(): Promise<readonly string[]> {
    const entries = await this.#folder.entries();
    return entries.flatMap(({ name, type }) => (type === "directory" && runIdPattern.test(name) ? [name] : []));
  }

  async open(id: string): Promise<RecordPlace> {
    return new FolderPlace(id, await this.#folder.open(id));
  }

  async readIndex(): Promise<string> {
    const content = await this.#folder.read(indexFile, mostOfLog).catch(() => "");
    return Buffer.from(content).toString("utf8");
  }

  async appendIndex(line: string): Promise<void> {
    try {
      const file = await this.#folder.openAppend(indexFile);
      await using(file, async () => file.append(line));
    } catch {
      // The next list reads the journal.
    }
  }

  replaceIndex(text: string): Promise<void> {
    return this.#folder.alone(indexFile, () => this.#folder.write(indexFile, text));
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}

/** A record in a folder of its own. */
export class FolderPlace implements RecordPlace {
  readonly id: string;
  readonly path: string;
  readonly #folder: OwnFolder;

  constructor(id: string, folder: OwnFolder) {
    this.id = id;
    this.path = folder.path;
    this.#folder = folder;
  }

  async readLog(name: LogName): Promise<string | undefined> {
    const content = await this.#folder.read(name, mostOfLog).catch(absent);
    return content && Buffer.from(content).toString("utf8");
  }

  readEnds(bytes: number) {
    return this.#folder.readEnds("journal.jsonl", bytes).catch(absent);
  }

  readPart(part: PartName, name: string) {
    return this.#in(part, (folder) => folder.read(name));
  }

  readStart(part: PartName, name: string, bytes: number) {
    return this.#in(part, (folder) => folder.readEnds(name, bytes));
  }

  openLog(name: LogName) {
    return this.#folder.openAppend(name);
  }

  replaceLog(name: LogName, text: string): Promise<void> {
    return this.#folder.write(name, text);
  }

  writePart(part: PartName, name: string, content: Uint8Array | string): Promise<void> {
    return this.#in(part, (folder) => folder.write(name, content), { make: true });
  }

  async #in<T>(part: PartName, use: (folder: OwnFolder) => Promise<T>, options = { make: false }): Promise<T> {
    const folder = await this.#folder.open(part, options);
    return using(folder, () => use(folder));
  }

  async alone<T>(fn: () => Promise<T>): Promise<T> {
    return this.#folder.alone("journal.jsonl", fn).catch((thrown: unknown) => {
      const isReadOnly = hasErrorCode(thrown, "EROFS") || hasErrorCode(thrown, "EACCES");
      if (!isReadOnly && !hasErrorCode(thrown, "ELOCKED")) throw thrown;
      throw new CannotResume(
        `${this.path} cannot be locked: ${isReadOnly ? "nothing can be written there" : "another process begins to go on with the run, or you may not write there"}`,
      );
    });
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}

async function using<O extends { close(): Promise<void> }, T>(open: O, use: (open: O) => Promise<T>): Promise<T> {
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}

/** Nothing there is undefined, as below a file (`/dev/null` as a home); what else is wrong is thrown. */
function absent(thrown: unknown): undefined {
  if (hasErrorCode(thrown, "ENOENT") || hasErrorCode(thrown, "ENOTDIR")) return undefined;
  throw thrown;
}

function hasErrorCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
