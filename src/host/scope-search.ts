import type { Directory } from "./directory.ts";
import { type FolderLines, type LineSearch, openLineSearch } from "./line-search.ts";
import { findFacts, inParent, lookToRead } from "./scope-files.ts";
import { isEverything, walkFiles } from "./scope-list.ts";
import type { ScopeTable } from "./scope-table.ts";
import { closing } from "./scope-walk.ts";
import type { FoundLines, ScopeDeclaration, SearchOptions } from "./scopes.ts";

/** Searches while it walks: a folder's files are read by the thread of the search while the folder is open. */
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

function searchFile({ table, search, virtualPath, options }: Searching): Promise<FoundLines> {
  return inParent(table, table.resolve(virtualPath), async (parent) => {
    await lookToRead(table, parent);
    const limits = { maxBytes: maxBytesIn(parent.scope, options), limit: options.maxMatches + 1 };
    const { matches, skipped } = await findIn(search, parent.directory, { names: [parent.name], ...limits });
    const found = matches.map(({ line }) => ({ ...line, virtualPath: parent.virtualPath }));
    const truncated = found.length > options.maxMatches;
    return { matches: found.slice(0, options.maxMatches), truncated, skipped, tooDeep: [], unnameable: 0 };
  });
}

async function searchFolder({ table, search, virtualPath, options }: Searching): Promise<FoundLines> {
  const matches: FoundLines["matches"][number][] = [];
  let skipped = 0;
  const walked = await walkFiles(table, virtualPath, options, async ({ folder, names, pathOf }) => {
    const room = options.maxMatches - matches.length;
    const limits = { maxBytes: maxBytesIn(folder.scope, options), limit: room + 1 };
    const found = await findIn(search, folder.directory, { names, ...limits });
    skipped += found.skipped;
    for (const { name, line } of found.matches.slice(0, room)) matches.push({ ...line, virtualPath: pathOf(name) });
    return found.matches.length > room;
  });
  return { matches, skipped, ...walked };
}

function maxBytesIn({ maxFileBytes }: ScopeDeclaration, { maxBytesOfFile }: SearchOptions): number {
  return Math.min(maxFileBytes ?? maxBytesOfFile, maxBytesOfFile);
}

interface Wanted {
  readonly names: readonly string[];
  readonly maxBytes: number;
  readonly limit: number;
}

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
