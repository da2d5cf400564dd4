import type { AppendFile } from "../host/host.ts";
import { isRecord } from "../protocol/json.ts";
import type { RecordedSecret, Secret } from "../util/secrets/redactor.ts";
import type { PrivateBlob } from "./blobs.ts";
import { RunSecrets } from "./run-secrets.ts";
import { cutTail, type RecordPlace, type RecordReader } from "./stores/record-place.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

/** Keeps the secrets of a run apart from its journal. Nothing is made before a run needs it. */
export interface SecretKeeper {
  readonly secrets: RunSecrets;
  /** Keeps the secrets and blobs of a journal's line, before that line is written. Never rejects: without it the references stay. */
  keep(secrets: readonly RecordedSecret[], blobs: readonly PrivateBlob[]): Promise<void>;
  /** Resolves when everything is on disk, as far as it could be written. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const log = "secrets.jsonl";

/** `kept`: contents of the record, if the run goes on. */
export function createSecretKeeper(place: RecordPlace, secrets: RunSecrets, kept?: PrivateContents): SecretKeeper {
  const known = new Set<string>(kept?.tokens);
  let file: Promise<AppendFile> | undefined;
  let isLost = false;
  let isChanged = false;
  let synced: Promise<void> | undefined;
  const open = async (): Promise<AppendFile> => {
    if (kept) await cutTail(place, log);
    const opened = await place.openLog(log);
    if (!kept) opened.append(`${JSON.stringify({ v: 1, key: secrets.key })}\n`);
    isChanged = true;
    return opened;
  };
  const keep: SecretKeeper["keep"] = async (found, blobs) => {
    if (isLost) return;
    try {
      file ??= open();
      const opened = await file;
      for (const { token, value } of found) {
        if (known.has(token)) continue;
        opened.append(`${JSON.stringify({ token, value })}\n`);
        known.add(token);
        isChanged = true;
      }
      for (const { name, content } of blobs) {
        if (known.has(name)) continue;
        await place.writePart("private", name, content);
        known.add(name);
      }
    } catch {
      isLost = true;
    }
  };
  const sync = async (): Promise<void> => {
    if (isChanged) {
      isChanged = false;
      synced = file?.then((opened) => opened.sync()).catch(() => undefined);
    }
    await synced;
  };
  const close = async (): Promise<void> => {
    await sync();
    const opened = await file?.catch(() => undefined);
    await opened?.close().catch(() => undefined);
  };
  return { secrets, keep, sync, close };
}

/** The values that a record keeps for the references of its journal. */
export interface PrivateContents {
  readonly secrets: RunSecrets;
  /** The tokens that it knows. */
  readonly tokens: readonly string[];
  /** Returns the value that a token stands for: the kept one, or today's of a name that this run recorded. */
  secretOf(token: string): string | undefined;
  /** The content of a file, unless it is gone or changed: then it throws. */
  readBlob(name: string): Promise<Uint8Array>;
}

/**
 * Reads the secrets of a run; undefined if none are kept. `known`: today's values of secrets known by name. Rejects with an
 * `UnreadableJournal` if a line is damaged.
 */
export async function readSecrets(place: RecordReader, known: readonly Secret[] = []): Promise<PrivateContents | undefined> {
  const path = `${place.path}/${log}`;
  const text = await place.readLog(log);
  const [first, ...entries] = (text ?? "")
    .split("\n")
    .slice(0, -1)
    .map((line, index) => parseLine(line, { path, index }));
  if (first?.key === undefined) return undefined;
  const { key } = first;
  const secrets = new RunSecrets(() => key);
  const values = new Map<string, string | undefined>();
  for (const { token = "", value } of entries) {
    values.set(token, value);
    if (value !== undefined) secrets.restore(value, token.slice(token.lastIndexOf(":") + 1));
  }
  const today = new Map(known.map(({ name, value }) => [name, value]));
  return {
    secrets,
    tokens: [...values.keys()],
    secretOf: (token) => (values.has(token) ? (values.get(token) ?? valueToday(token, today)) : undefined),
    readBlob: async (name) => {
      const content = await place.readPart("private", name);
      if (secrets.digest(content) !== name) throw new Error(`the private file ${name} was changed`);
      return content;
    },
  };
}
/** `NAME:json` is the value as it stands in a JSON text that is a string. */
function valueToday(token: string, today: ReadonlyMap<string, string>): string | undefined {
  const plain = today.get(token);
  if (plain !== undefined || !token.endsWith(":json")) return plain;
  const value = today.get(token.slice(0, -":json".length));
  return value === undefined ? undefined : JSON.stringify(value).slice(1, -1);
}

interface PrivateLine {
  readonly key?: string;
  readonly token?: string;
  readonly value?: string;
}

/** The first line holds the key, each other one a token. */
function parseLine(line: string, { path, index }: { readonly path: string; readonly index: number }): PrivateLine {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {}
  const { key, token, value } = isRecord(entry) ? entry : {};
  if (index === 0 && typeof key === "string" && /^[0-9a-f]{64}$/.test(key)) return { key };
  if (index > 0 && typeof token === "string" && (value === undefined || typeof value === "string"))
    return { token, ...(value === undefined ? {} : { value }) };
  throw new UnreadableJournal(path, index + 1, `this line is not ${index === 0 ? "a key" : "a secret"} of a run`);
}
