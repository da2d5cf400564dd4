import { join } from "node:path";
import { isRecord } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { errorCode, SystemError } from "../files/system-error.ts";
import type { Host } from "../host.ts";
import { credentialsFolder } from "./private-folders.ts";

type Entries<T> = Readonly<Record<string, T>>;

/** Named credentials of the user, in a file that only the user can read (0600, in a folder of 0700) and that no scope reaches. */
export interface CredentialFile<T> {
  readonly path: string;
  /** Empty if there is no file. Rejects if it cannot be read or has another form. */
  read(): Promise<Entries<T>>;
  /**
   * Replaces an entry by what `change` makes of it; undefined removes it. No other process changes the file meanwhile, so `change`
   * sees what the last one wrote. Rejects as `read` does, with the error of `change`, and with the system's error.
   */
  update(name: string, change: (entry: T | undefined) => Promise<T | undefined>): Promise<T | undefined>;
}

export interface CredentialForm<T> {
  /** The name of the file, without suffix. */
  readonly name: string;
  /** Returns an entry in the form of this version; undefined for any other. */
  readonly parse: (entry: Readonly<Record<string, unknown>>) => T | undefined;
}

type CredentialHost = Pick<Host, "files" | "stateDirectory">;

/** In bytes. */
const mostOfFile = 1_000_000;

/** The lock is held while a login is refreshed over the network: each attempt waits ten seconds. */
const lockAttempts = 6;

export function openCredentialFile<T>({ files, stateDirectory }: CredentialHost, form: CredentialForm<T>): CredentialFile<T> {
  const folder = credentialsFolder(stateDirectory);
  const path = join(folder, `${form.name}.json`);
  const read = async (): Promise<Entries<T>> => {
    if (files.isMissing?.(path)) return {};
    const text = await files.readText(path, { maxBytes: mostOfFile }).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw new Error(`${path} cannot be read: ${errorMessage(error)}`, { cause: error });
    });
    return text === undefined ? {} : parseEntries(text, path, form);
  };
  const write = async (entries: Entries<T>) =>
    files.writeAtomically(path, `${JSON.stringify({ v: 1, entries }, undefined, 2)}\n`, 0o600);
  const alone = async <R>(work: () => Promise<R>): Promise<R> => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return work();
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await files.alone(path, begin);
      } catch (error) {
        if (hasBegun || errorCode(error) !== "ELOCKED" || attempt === lockAttempts) throw error;
      }
    }
  };
  return {
    path,
    read,
    update: async (name, change) => {
      await files.makeDirectory(folder, 0o700);
      return alone(async () => {
        const entries = new Map(Object.entries(await read()));
        const before = entries.get(name);
        const after = await change(before);
        if (after === before) return after;
        if (after === undefined) entries.delete(name);
        else entries.set(name, after);
        await write(Object.fromEntries(entries));
        return after;
      });
    },
  };
}

/** The content is in no message. */
function parseEntries<T>(text: string, path: string, { parse }: CredentialForm<T>): Entries<T> {
  const file = parseJson(text);
  if (!isRecord(file) || file["v"] !== 1 || !isRecord(file["entries"]))
    throw new SystemError("EINVAL", `${path} is not a file of credentials; remove it, and set them anew`);
  const entries = Object.entries(file["entries"]).flatMap(([name, entry]) => {
    const parsed = isRecord(entry) ? parse(entry) : undefined;
    return parsed === undefined ? [] : [[name, parsed] as const];
  });
  return Object.fromEntries(entries);
}
