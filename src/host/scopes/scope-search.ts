import type { Directory } from "../files/directory.ts";
import type { FolderSearch } from "./line-search.ts";
import { type FolderLines, type LineSearch, openLineSearch } from "./line-search.ts";
import { findFacts, inParent, isAsPinned, lookToRead } from "./scope-files.ts";
import { isEverything, type WalkedFiles, walkFiles } from "./scope-list.ts";
import { changedSincePinned } from "./scope-refusals.ts";
import type { ScopeTable } from "./scope-table.ts";
import { closing, type OpenFolder } from "./scope-walk.ts";
import { type FoundLines, maxReadBytes, type ScopeDeclaration, type SearchOptions } from "./scopes.ts";

/** Searches while it walks: a folder stays open until the threads of the search have read its files. */
export async function searchFiles(table: ScopeTable, virtualPath: string, options: SearchOptions): Promise<FoundLines> {
  const search = openLineSearch(options.regex, options);
  try {
    const isOneFile = !isEverything(table, virtualPath) && (await findFacts(table, table.resolve(virtualPath))).type === "file";
    return await (isOneFile ? searchFile : searchFolder)({ table, search, virtualPath, options });
  } finally {
    await search.close();
  }
}

interface Searching {
  readonly table: ScopeTable;
  readonly search: LineSearch;
  readonly virtualPath: string;
  readonly options: SearchOptions;
}

async function searchFile({ table, search, virtualPath, options }: Searching): Promise<FoundLines> {
  const matches = new Matches(options.maxMatches);
  await inParent(table, table.resolve(virtualPath), async (parent) => {
    await lookToRead(table, parent);
    const names = await withoutChanged(table, parent, [parent.name]);
    if (names.length === 0) throw changedSincePinned(parent.virtualPath);
    const wanted = { names, maxBytes: maxBytesIn(parent.scope, options), limit: matches.room + 1 };
    matches.add(await findIn(search, parent.directory, wanted), () => parent.virtualPath);
  });
  const { found, skipped, isFull } = matches;
  return { matches: found, skipped, truncated: isFull, tooDeep: [], unnameable: 0 };
}

/** Files that a thread gets at once. */
const filesAtOnce = 512;
/** While threads read files, the walk goes on to as many later ones. */
const searchesAtOnce = 8;

async function searchFolder({ table, search, virtualPath, options }: Searching): Promise<FoundLines> {
  const matches = new Matches(options.maxMatches);
  const underWay: Promise<void>[] = [];
  let last = Promise.resolve();
  const start = ({ folder, pathOf }: WalkedFiles, names: readonly string[]) => {
    const wanted = { names, maxBytes: maxBytesIn(folder.scope, options), limit: matches.room + 1 };
    const finding = findIn(search, folder.directory, wanted);
    finding.catch(() => undefined);
    last = last.then(async () => {
      if (matches.isFull) return;
      matches.add(await finding, pathOf);
      // A search beyond need not end.
      if (matches.isFull) await search.close();
    });
    last.catch(() => undefined);
    return last;
  };
  const walked = await walkFiles(table, virtualPath, options, async (files) => {
    const names = await withoutChanged(table, files.folder, files.names);
    matches.skipped += files.names.length - names.length;
    for (let at = 0; at < names.length && !matches.isFull; at += filesAtOnce) {
      underWay.push(start(files, names.slice(at, at + filesAtOnce)));
      if (underWay.length >= searchesAtOnce) await underWay.shift();
    }
    return matches.isFull;
  });
  await last;
  return { matches: matches.found, skipped: matches.skipped, ...walked, truncated: walked.truncated || matches.isFull };
}

/** Leaves out files that are not as their scope pins them. */
async function withoutChanged(table: ScopeTable, folder: OpenFolder, names: readonly string[]): Promise<readonly string[]> {
  const { directory, scope, components } = folder;
  if (!scope.pinned) return names;
  const kept = names.map(async (name) => {
    const file = await directory.openFile(name).catch(() => undefined);
    const whole = await (file && closing(file, () => file.read(maxReadBytes)));
    return whole !== undefined && isAsPinned(table, { scope, path: [...components, name] }, whole);
  });
  const isKept = await Promise.all(kept);
  return names.filter((_, index) => isKept[index]);
}

/** Takes what was found in the order of the walk, whatever was searched beyond it at the same time. */
class Matches {
  readonly found: FoundLines["matches"][number][] = [];
  skipped = 0;
  /** True if there is more. */
  isFull = false;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get room(): number {
    return this.#most - this.found.length;
  }

  add(files: FolderLines, pathOf: (name: string) => string): void {
    for (const { name, lines } of files) {
      if (lines === undefined) this.skipped++;
      for (const line of lines ?? []) {
        this.isFull = this.room === 0;
        if (this.isFull) return;
        this.found.push({ ...line, virtualPath: pathOf(name) });
      }
    }
  }
}

function maxBytesIn({ maxFileBytes }: ScopeDeclaration, { maxBytesOfFile }: SearchOptions): number {
  return Math.min(maxFileBytes ?? maxBytesOfFile, maxBytesOfFile);
}

type Wanted = Omit<FolderSearch, "from">;

async function findIn(search: LineSearch, directory: Directory, wanted: Wanted): Promise<FolderLines> {
  if (directory.withPath) return directory.withPath((from) => search.find({ ...wanted, from }));
  const from = await Promise.all(wanted.names.map((name) => readBytes(directory, name, wanted.maxBytes + 1)));
  return search.find({ ...wanted, from });
}

/** No text for a file that is gone. */
async function readBytes(directory: Directory, name: string, limit: number): Promise<Uint8Array> {
  const file = await directory.openFile(name).catch(() => undefined);
  return file ? closing(file, () => file.read(limit)) : new Uint8Array(1);
}
