import { basename, delimiter, dirname, extname, join, resolve } from "node:path";
import type { Host } from "../../host/host.ts";
import type { Worker } from "../../program/program.ts";
import { nameSet } from "../../util/text/name-set.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import { isCodePath } from "../home.ts";
import { type StartedServer, serversOf } from "../link/name-servers.ts";
import { CodeSearch } from "./code-search.ts";

/** What MCP servers are started with, and what they load: no tool may write it. */
export interface ServerCode {
  /** Absolute paths, existing or not, with all that is below them. */
  readonly places: readonly string[];
  /** Absolute paths of folders around the program or at its root: what can be code in them belongs to a server. */
  readonly codeFolders: readonly string[];
}

/**
 * Finds what the servers of a program load. Modules that Node runs are followed by their imports. Of all other programs, and of modules
 * that import by computed names, everything beside the file that is started counts.
 */
export async function findServerCode(compilation: Compilation, workers: ReadonlyMap<string, Worker>): Promise<ServerCode> {
  const { host, root } = compilation;
  const places = new Set<string>();
  const folders = new Set<string>();
  for (const server of serversOf(compilation, workers)) {
    const found = await inspectServer(host, root, server);
    for (const place of found.places) places.add(place);
    for (const folder of found.folders) folders.add(await host.files.realPath(folder).catch(() => folder));
  }
  const realRoot = await host.files.realPath(root).catch(() => root);
  const isAround = (folder: string) => isWithin(realRoot, folder);
  const around = [...folders].filter(isAround);
  return { places: [...places, ...[...folders].filter((folder) => !isAround(folder))], codeFolders: around };
}

interface Inspected {
  readonly places: readonly string[];
  /** Any file of them can be loaded. */
  readonly folders: readonly string[];
}

async function inspectServer(host: Host, root: string, server: StartedServer): Promise<Inspected> {
  const { command, args = [], cwd = ".", env = {} } = server;
  const base = resolve(root, cwd);
  const named = await lookUp(host, base, [command, ...args, ...Object.values(env)]);
  const programs = [command, ...(wrappers.has(programName(command)) ? args : [])].map(programName);
  const isOneOf = (names: ReadonlySet<string>) => programs.some((name) => names.has(name));
  const code = named.files.filter((path) => !isData(path));
  const read = isOneOf(loading) ? manifests.map((name) => resolve(base, name)) : [];
  const places = [...named.files, ...named.missing, ...read];
  const besides = (paths: readonly string[]) => Promise.all(paths.map((path) => folderOf(host, path)));
  if (isOneOf(containers)) return { places, folders: [...(await besides(code)), ...named.folders] };
  if (isOneOf(installers)) return { places: [...places, resolve(base, "node_modules")], folders: await besides(code) };
  const isInline = args.some((word) => inline.test(word));
  if (isOneOf(nodes) && !isInline) {
    const search = await followModules(host, base, [...code.filter(isCodePath), ...named.folders]);
    const unread = [...search.opaque, ...code.filter((path) => !isCodePath(path))];
    if (search.modules.size > 0)
      return { places: [...places, ...search.places, ...search.modules], folders: await besides(unread) };
  }
  const inBase = isOneOf(loading) && (code.length === 0 || isInline);
  return { places, folders: [...(await besides(code)), ...(inBase ? [base] : [])] };
}

async function followModules(host: Host, base: string, starts: readonly string[]): Promise<CodeSearch> {
  const read = async (path: string) => {
    const text = await host.files.readText(path).catch(() => undefined);
    return text === undefined ? undefined : { name: path, text };
  };
  const search = new CodeSearch({ host, read });
  await search.addFolder(base);
  await search.follow(starts, { asCommands: true });
  return search;
}

interface Named {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Names with a suffix at which nothing is yet: a server can read its configuration there in the next run. */
  readonly missing: readonly string[];
}

/** Looks up all paths that the words can mean: `--config=FILE`, `-rFILE`, `a.jar:b.jar`, and what a line of a shell holds. */
async function lookUp({ files }: Host, base: string, words: readonly string[]): Promise<Named> {
  const whole = words.flatMap((word) => [word, ...(word.includes("=") ? [word.slice(word.indexOf("=") + 1)] : [])]);
  const parts = words.flatMap((word) => [...word.split(/[\s=,;'"()&|<>]+/), ...word.split(delimiter), ...afterFlag(word)]);
  const paths = (texts: readonly string[]) => new Set(texts.filter((text) => text !== "").map((text) => resolve(base, text)));
  const named = paths(whole);
  const kinds = await Promise.all(
    [...new Set([...named, ...paths(parts)])].map(async (path) => [path, await files.kind(path)] as const),
  );
  const ofKind = (kind: string) => kinds.flatMap(([path, found]) => (found === kind ? [path] : []));
  const missing = kinds.flatMap(([path, kind]) => (kind === undefined && named.has(path) && hasSuffix.test(path) ? [path] : []));
  return { files: ofKind("file"), folders: ofKind("directory"), missing };
}

const hasSuffix = /[^/\\.][^/\\]*\.[A-Za-z]\w{0,7}$/;

/** `-Ifolder`, `-rFILE`. */
function afterFlag(word: string): readonly string[] {
  return /^-[A-Za-z]./.test(word) ? [word.slice(2)] : [];
}

/** The folder of a file. For the programs of a virtual environment, or of `node_modules`, it is the one with all that they load. */
async function folderOf({ files }: Host, path: string): Promise<string> {
  const folder = dirname(path);
  const above = dirname(folder);
  if (basename(folder) === ".bin") return above;
  return (await files.kind(join(above, "pyvenv.cfg"))) === "file" ? above : folder;
}

/** `python3.12` and `python.exe` are `python`. */
function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat)$/, "")
    .replace(/[\d.-]+$/, "");
}

/** An option after which code, or the name of a module, stands in the command line itself. */
const inline = /^(?:-[a-z]*[cemp]|--(?:eval|print|run|module|command|test)(?:=.*)?)$/;

const nodes = nameSet("node nodejs tsx ts-node bun deno");

const wrappers = nameSet("env nice nohup timeout stdbuf sudo doas setsid time xvfb-run");

/** They start packages that are installed beside the program, and take no file of it. */
const installers = nameSet("npx bunx uvx pipx");

const containers = nameSet("docker podman nerdctl container");

/** Interpreters, and programs that read in the folder they are started in what they run. */
const fromFolder = nameSet(
  "python pythonw pypy ruby perl php lua luajit bash sh dash zsh ksh fish pwsh powershell java javaw rscript julia elixir erl escript",
  "tclsh guile racket groovy kotlin scala clojure clj swift mono osascript awk gawk",
  "npm pnpm yarn corepack uv poetry pipenv pdm hatch rye pixi conda make gmake just task cargo go dotnet gradle gradlew mvn mvnw ant sbt",
  "bundle rake mix rebar composer stack cabal nix direnv",
);

const loading = new Set([...nodes, ...installers, ...fromFolder]);

/** Files that these read in the folder that they are started in. */
const manifests = [...nameSet("package.json tsconfig.json deno.json deno.jsonc bunfig.toml .npmrc")];

const data = nameSet(
  ".json .jsonl .ndjson .yaml .yml .toml .ini .cfg .conf .env .csv .tsv .txt .md .rst .adoc .html .htm .xml .log .db .sqlite .sqlite3",
  ".pem .crt .key .pdf .png .jpg .jpeg .gif .svg .webp .mp3 .wav .mp4 .webm .parquet .gz .zip",
);

function isData(path: string): boolean {
  return data.has(extname(path).toLowerCase());
}
