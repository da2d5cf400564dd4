import { basename, dirname, join, resolve } from "node:path";
import { variable } from "../../host/host.ts";
import { isObject, type OptionTable, textOption } from "../../util/check-options.ts";
import { namedStore, type StoreHost, userStore } from "./folder-store.ts";
import { CannotResume } from "./record-place.ts";
import type { RunStore } from "./store.ts";

/** A recorded run, as the public functions name it. */
export interface RunReference {
  /** Absolute path of its folder, which names its store. In its place: `run`. */
  readonly directory?: string | undefined;
  /** Its id. */
  readonly run?: string | undefined;
  /** Absolute path of a store's folder, or a store. Default: `LLM_DO_STORE`, or else the user's own. */
  readonly store?: string | RunStore | undefined;
}

/** The options of a `RunReference`. */
export const referenceTable: OptionTable<RunReference> = {
  directory: textOption,
  run: textOption,
  store: { wanted: "the path of a folder, or a store", fits: (value) => typeof value === "string" || isObject(value) },
};

export interface FoundRecord {
  readonly store: RunStore;
  readonly id: string;
}

/** The store of this process, where it is opened by an address. */
let opened: RunStore | undefined;

/** Makes a store that was opened the one that is meant where no other is named, until the process ends. */
export function useStore(store: RunStore): void {
  opened = store;
}

/** Returns whether a store is in a database, and not in a folder. */
export function isAddress(store: string): boolean {
  return /^postgres(?:ql)?:/i.test(store);
}

/** `store`: see `RunReference`. */
export function openStore(host: StoreHost, given: string | RunStore | undefined): RunStore {
  const store = given ?? opened ?? variable(host, "LLM_DO_STORE");
  if (typeof store === "object") return store;
  if (store !== undefined && isAddress(store))
    throw new CannotResume(
      "a store in a database is opened first: pass what `openPostgresStore` of `llm-do/postgres` resolves with as `store`",
    );
  if (store !== undefined && basename(store) === ".llm-do")
    throw new CannotResume(
      `${store} holds records of an older llm-do, which may have come with the folder: they are not believed`,
    );
  const path = store === undefined ? undefined : resolve(host.workingDirectory, store);
  return path === undefined || path === userStore(host).path ? userStore(host) : namedStore(host, path);
}

/** Finds the store of a run. Throws a `TypeError` for a reference that names none. */
export function findRecord(host: StoreHost, { directory, run, store }: RunReference): FoundRecord {
  if (directory !== undefined) {
    if (run !== undefined || store !== undefined) throw new TypeError("`directory` and `run` exclude one another");
    const path = join(resolve(directory));
    const id = path.slice(dirname(path).length + 1);
    return { store: openStore(host, dirname(dirname(path))), id };
  }
  if (run === undefined) throw new TypeError("`run` is missing: the id of a recorded run, or `directory`, its folder");
  if (run === "last")
    throw new TypeError("`last` is a word of the command line: `run` is an id, such as the `runId` of a result");
  return { store: openStore(host, store), id: run };
}

/** Returns whether a request names a recorded run. */
export function isReference({ directory, run }: RunReference): boolean {
  return directory !== undefined || run !== undefined;
}
