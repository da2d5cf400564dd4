import { join } from "node:path";
import { isRecord } from "../../protocol/json.ts";
import type { Reach } from "../../protocol/reach.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { errorCode } from "../files/system-error.ts";
import type { Host } from "../host.ts";

/** The folders whose programs may run their code with the user's rights, by real path. Kept in the user's state folder. */
export interface TrustStore {
  /** Undefined for untrusted or missing folders. */
  get(folder: string): Promise<TrustedFolder | undefined>;
  /** Rejects with the system's error if the store cannot be written. */
  add(folder: string, reach: Reach): Promise<void>;
  /** By path, in order. */
  list(): Promise<readonly TrustedFolder[]>;
  /** Accepts the path of a missing folder, too. Returns false if it was not trusted. Rejects as `add` does. */
  revoke(folder: string): Promise<boolean>;
}

export interface TrustedFolder {
  /** Real path. */
  readonly folder: string;
  /** ISO 8601. */
  readonly trustedAt: string;
  /** The reach of its program when it was trusted. Undefined if it was trusted before llm-do recorded the reach. */
  readonly reach: Reach | undefined;
}

interface Entry {
  readonly trustedAt: string;
  readonly reach?: Reach;
}

/** In bytes. */
const mostOfStore = 20_000_000;

type Entries = Readonly<Record<string, Entry>>;

type TrustHost = Pick<Host, "files" | "stateDirectory" | "clock">;

/** `warn` receives a message if the store cannot be read: nothing is trusted then, and the next `add` replaces it. */
export function createTrustStore(host: TrustHost, warn: (message: string) => void): TrustStore {
  const path = join(host.stateDirectory, "trust.json");
  const read = () => readStore(host, path, warn);
  const write = (folders: Entries) =>
    host.files.writeAtomically(path, `${JSON.stringify({ v: 2, folders }, undefined, 2)}\n`, 0o600);
  /** Runs a read and a write as one: another process may add another folder at the same time. */
  const updating = async <T>(update: () => Promise<T>): Promise<T> => {
    await host.files.makeDirectory(host.stateDirectory, 0o700);
    return host.files.alone(path, update);
  };
  return {
    get: async (folder) => {
      const real = await host.files.realPath(folder).catch(() => undefined);
      if (real === undefined) return undefined;
      const folders = await read();
      const entry = Object.hasOwn(folders, real) ? folders[real] : undefined;
      return entry && toTrusted(real, entry);
    },
    add: async (folder, reach) => {
      const real = await host.files.realPath(folder);
      const trustedAt = new Date(host.clock.now()).toISOString();
      await updating(async () => write({ ...(await read()), [real]: { trustedAt, reach } }));
    },
    list: async () => {
      const folders = Object.entries(await read()).map(([folder, entry]) => toTrusted(folder, entry));
      return folders.sort((a, b) => (a.folder < b.folder ? -1 : 1));
    },
    revoke: async (folder) => {
      const real = await host.files.realPath(folder).catch(() => folder);
      if (!Object.hasOwn(await read(), real)) return false;
      return updating(async () => {
        const { [real]: revoked, ...others } = await read();
        if (revoked !== undefined) await write(others);
        return revoked !== undefined;
      });
    },
  };
}

function toTrusted(folder: string, { trustedAt, reach }: Entry): TrustedFolder {
  return { folder, trustedAt, reach };
}

async function readStore(host: TrustHost, path: string, warn: (message: string) => void): Promise<Entries> {
  try {
    const entries = toEntries(JSON.parse(await host.files.readText(path, { maxBytes: mostOfStore })));
    if (entries) return entries;
    warn(`${path} is not a list of trusted folders; no folder is trusted`);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") warn(`${path} cannot be read (${errorMessage(error)}); no folder is trusted`);
  }
  return {};
}

/** Reads versions 1 (times alone) and 2. Malformed entries are ignored. */
function toEntries(store: unknown): Entries | undefined {
  if (!isRecord(store) || (store["v"] !== 1 && store["v"] !== 2) || !isRecord(store["folders"])) return undefined;
  const entries = Object.entries(store["folders"]).flatMap(([folder, entry]): [string, Entry][] => {
    if (typeof entry === "string") return [[folder, { trustedAt: entry }]];
    if (!isRecord(entry) || typeof entry["trustedAt"] !== "string") return [];
    const reach = toReach(entry["reach"]);
    return [[folder, { trustedAt: entry["trustedAt"], ...(reach ? { reach } : {}) }]];
  });
  return Object.fromEntries(entries);
}

/** Undefined if the form is not that of this version: the user is asked for trust again. */
function toReach(value: unknown): Reach | undefined {
  if (!isRecord(value) || !isRecord(value["workers"])) return undefined;
  const lists = ["code", "packages", "variables", "addresses", "restrictions"];
  if (!lists.every((key) => isTexts(value[key])) || !isRecord(value["limits"])) return undefined;
  const isWhole = Object.values(value["workers"]).every((worker) => {
    if (!isRecord(worker) || !["tools", "limits"].every((key) => isRecord(worker[key])) || !Array.isArray(worker["scopes"]))
      return false;
    if (!isPolicy(worker["attachments"])) return false;
    return [worker["models"], worker["references"], worker["rules"]].every(isTexts) && worker["scopes"].every(isRecord);
  });
  return isWhole ? (value as unknown as Reach) : undefined;
}

function isPolicy(value: unknown): boolean {
  return isRecord(value) && ["allowedSuffixes", "deniedSuffixes", "mediaTypes"].every((key) => isTexts(value[key]));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
