import type { AppendFile } from "../../host/host.ts";
import type { RecordHost } from "../record.ts";
import { PlacedStore, type Places, type ProgramRuns } from "./placed-store.ts";
import { CannotResume, type LogName, type PartName, type RecordPlace } from "./record-place.ts";
import type { NewRun, ProgramOfRun, RunStore } from "./store.ts";

/** A store that is gone with its process. */
export function memoryStore(host: RecordHost): RunStore {
  return new PlacedStore(host, new MemoryPlaces());
}

class MemoryPlaces implements Places {
  readonly path = "memory";
  readonly isOwn = false;
  readonly #programs = new Map<string, MemoryRuns>();

  async create({ id, program: { root } }: NewRun) {
    const runs = this.#programs.get(root) ?? new MemoryRuns(root);
    this.#programs.set(root, runs);
    if (await this.find(id).catch(() => undefined)) throw new Error(`there is a run \`${id}\``);
    const place = new MemoryPlace(id);
    runs.places.set(id, place);
    return { place, runs, notes: [] };
  }

  async find(id: string) {
    const runs = [...this.#programs.values()].find(({ places }) => places.has(id));
    if (!runs) throw new CannotResume(`there is no run \`${id}\` in memory`);
    return { place: await runs.open(id), runs };
  }

  async programs(program: ProgramOfRun | undefined): Promise<readonly ProgramRuns[]> {
    return [...this.#programs.values()].filter(({ root }) => program === undefined || program.root === root);
  }

  async remove(id: string): Promise<void> {
    for (const { places } of this.#programs.values()) places.delete(id);
  }
}

class MemoryRuns implements ProgramRuns {
  readonly root: string;
  readonly places = new Map<string, MemoryPlace>();
  #index = "";

  constructor(root: string) {
    this.root = root;
  }

  async ids(): Promise<readonly string[]> {
    return [...this.places.keys()];
  }

  async open(id: string): Promise<RecordPlace> {
    return this.places.get(id) as MemoryPlace;
  }

  async readIndex(): Promise<string> {
    return this.#index;
  }

  async appendIndex(line: string): Promise<void> {
    this.#index += line;
  }

  async replaceIndex(text: string): Promise<void> {
    this.#index = text;
  }

  async close(): Promise<void> {}
}

class MemoryPlace implements RecordPlace {
  readonly id: string;
  readonly path: string;
  readonly #logs = new Map<LogName, { text: string }>();
  readonly #parts = new Map<string, Uint8Array>();
  #tail: Promise<unknown> = Promise.resolve();

  constructor(id: string) {
    this.id = id;
    this.path = `memory/${id}`;
  }

  async readLog(name: LogName): Promise<string | undefined> {
    return this.#logs.get(name)?.text;
  }

  async readEnds(bytes: number) {
    const log = this.#logs.get("journal.jsonl");
    const content = log && Buffer.from(log.text);
    return content && { start: content.subarray(0, bytes), end: content.subarray(-bytes), bytes: content.length };
  }

  async readPart(part: PartName, name: string): Promise<Uint8Array> {
    const content = this.#parts.get(`${part}/${name}`);
    if (!content) throw new Error(`there is no ${part}/${name}`);
    return content;
  }

  async readStart(part: PartName, name: string, bytes: number) {
    const content = await this.readPart(part, name);
    return { start: content.subarray(0, bytes), bytes: content.length };
  }

  async openLog(name: LogName): Promise<AppendFile> {
    const log = this.#logs.get(name) ?? { text: "" };
    this.#logs.set(name, log);
    return {
      append: (text) => {
        log.text += text;
      },
      size: () => (this.#logs.get(name) === log ? Buffer.byteLength(log.text) : undefined),
      sync: async () => undefined,
      close: async () => undefined,
    };
  }

  async replaceLog(name: LogName, text: string): Promise<void> {
    this.#logs.set(name, { text });
  }

  async writePart(part: PartName, name: string, content: Uint8Array | string): Promise<void> {
    if (name === "" || name === "." || name === ".." || name.includes("/")) throw new Error(`\`${name}\` is no name`);
    this.#parts.set(`${part}/${name}`, Buffer.from(content as Uint8Array));
  }

  alone<T>(fn: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(fn);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {}
}
