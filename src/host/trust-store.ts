import { join } from "node:path";
import { errorMessage } from "../util/error-message.ts";
import type { Host } from "./host.ts";
import { errorCode } from "./system-error.ts";

/** The folders whose programs may run their code with the user's rights, by real path. Kept in the user's state folder. */
export interface TrustStore {
  /** A folder that is not there is not trusted. */
  has(folder: string): Promise<boolean>;
  /** Rejects with what the system says where the store cannot be written. */
  add(folder: string): Promise<void>;
}

interface TrustedFolders {
  readonly v: 1;
  /** Real path to the time (ISO 8601) at which it was trusted. */
  readonly folders: Readonly<Record<string, string>>;
}

type TrustHost = Pick<Host, "files" | "stateDirectory" | "clock">;

/** `warn` hears of a store that cannot be read: nothing is trusted then, and the next `add` begins anew. */
export function createTrustStore(host: TrustHost, warn: (message: string) => void): TrustStore {
  const path = join(host.stateDirectory, "trust.json");
  return {
    has: async (folder) => {
      const real = await host.files.realPath(folder).catch(() => undefined);
      return real !== undefined && Object.hasOwn((await readStore(host, path, warn)).folders, real);
    },
    add: async (folder) => {
      const real = await host.files.realPath(folder);
      const { folders } = await readStore(host, path, warn);
      const store: TrustedFolders = { v: 1, folders: { ...folders, [real]: new Date(host.clock.now()).toISOString() } };
      await host.files.makeDirectory(host.stateDirectory, 0o700);
      await host.files.writeAtomically(path, `${JSON.stringify(store, undefined, 2)}\n`, 0o600);
    },
  };
}

async function readStore(host: TrustHost, path: string, warn: (message: string) => void): Promise<TrustedFolders> {
  try {
    const store: unknown = JSON.parse(await host.files.readText(path));
    if (isStore(store)) return store;
    warn(`${path} is no list of trusted folders; no folder is trusted`);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") warn(`${path} cannot be read (${errorMessage(error)}); no folder is trusted`);
  }
  return { v: 1, folders: {} };
}

function isStore(store: unknown): store is TrustedFolders {
  if (typeof store !== "object" || store === null) return false;
  const { v, folders } = store as Partial<Record<keyof TrustedFolders, unknown>>;
  return v === 1 && typeof folders === "object" && folders !== null && !Array.isArray(folders);
}
