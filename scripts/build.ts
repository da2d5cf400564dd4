// Builds dist/: each public entry, the command line and each thread as one file, what several of them or a later moment need
// in dist/chunks/, and a declaration file for each module. What each start needs is in a few chunks, with the packages that it uses:
// to find and open a hundred small files takes longer than to run them. Packages among the `dependencies` stay outside, all others are
// bundled. What is imported on need (`import()`) stays a chunk of its own, unless each first request needs it.
// Builds nothing where dist/ is already of these sources: `npm ci`, `npm test` and `npm publish` each ask for it.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { type ChunkingContext, type CodeSplittingGroup, type OutputChunk, type RolldownPlugin, rolldown } from "rolldown";
import * as locales from "zod/locales";
import { sha256 } from "../src/util/sha256.ts";
import { startFunctions } from "./start-functions.ts";
import { renderNotices } from "./third-party-notices.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, { readonly default: string } | string>>;
}

const { dependencies, peerDependencies = {}, exports } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const built = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : [entry.default]));
/** Started by its path; the others are opened by it where a fault is reproduced with the built package. */
const inner = ["cli/main", "cli/programs/open-trust-store", "host/node-host", "front/llm-do", "ui/render-request"];
const entries = [...built.map((path) => path.replace(/^\.\/dist\/|\.js$/g, "")), ...inner];

/** Each is bundled alone: a thread that shares a chunk with the process loads all that is in it once more. */
const threads = [
  "cli/process/watchdog-thread",
  "cli/process/lease-thread",
  "host/scopes/line-search-thread",
  "host/program-thread",
];

/** Programs get our `zod` for their tools, and callers the types of `@ai-sdk/provider`. The code of neither is shared with a bundled package. */
const external = new Set(
  Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name !== "zod" && name !== "@ai-sdk/provider"),
);

function isExternal(id: string): boolean {
  const [name = ""] = /^(@[^/]+\/)?[^/]+/.exec(id) ?? [];
  return isBuiltin(id) || external.has(name);
}

/** The purpose of each of these chunks, and the modules that serve it. A module that two need is in the one that both load. */
const startOf = {
  /** Parses a command line, and shows its help. */
  line: ["cli/command-line", "host/own-files/state-directory"],
  /** A program from its files to its first request. */
  core: [
    ..."front/llm-do front/questions host/node-host host/files/node-system toolsets/built-ins models/library/language-model-adapter models/providers/chat-reasoning".split(
      " ",
    ),
    ..."models/wire/create-wire-fetch models/wire/chat-repair models/options/provider-options schema/from-json-schema".split(" "),
  ],
  /** A run of the command line without a terminal. */
  run: ["cli/commands/run", "cli/programs/open-trust-store", "cli/programs/require-trust"],
};

/** Module ids that are loaded with some modules. */
function closureOf(names: readonly string[], context: ChunkingContext): ReadonlySet<string> {
  const found = new Set(names.map((name) => resolve("src", `${name}.ts`)));
  for (const id of found) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
}

let closures: Readonly<Record<keyof typeof startOf, ReadonlySet<string>>> | undefined;

function chunkOf(id: string, context: ChunkingContext): string | null {
  closures ??= {
    line: closureOf(startOf.line, context),
    core: closureOf(startOf.core, context),
    run: closureOf(startOf.run, context),
  };
  const { line, core, run } = closures;
  if (line.has(id) && core.has(id)) return "base";
  if (line.has(id)) return "line";
  if (core.has(id)) return "core";
  return run.has(id) ? "run" : null;
}

/**
 * Takes built-in modules as objects: to import them as modules runs all their getters, and that of `node:http` alone loads Node's whole
 * client for HTTP, which takes ten times as long as the module. Replaces whole lines, so that source maps stay true.
 */
const builtIns: RolldownPlugin = {
  name: "built-ins",
  renderChunk: (code) => ({
    code: code
      .replace(/^import (?:\* as )?([\w$]+|\{.*\}) from "((?:node:)?[\w/]+)";$/gm, (whole, names: string, id: string) =>
        isBuiltin(id) ? `const ${names.replaceAll(/(\w+) as /g, "$1: ")} = ${objectOf(id)};` : whole,
      )
      .replace(/\bimport\("(node:[\w/]+)"\)/g, (_, id: string) => `Promise.resolve(${objectOf(id)})`),
    map: null,
  }),
};

/**
 * Escapes all characters that are not ASCII. V8 holds a file with a character beyond Latin-1 at two bytes for each character, and compiles it
 * more slowly. Stays within lines, so that source maps stay true. Not in `renderChunk`: rolldown prints strings anew after that.
 */
const ascii: RolldownPlugin = {
  name: "ascii",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      chunk.code = chunk.code.replace(/(\\?)([^\0-\x7f])/g, (_, slash: string, character: string) => {
        if (slash) throw new Error(`${chunk.fileName}: a backslash before ${character} cannot be escaped`);
        return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
      });
    }
  },
};

/** Loads zod's messages in other languages when one is asked for: they are the larger part of zod, and few programs read them. */
const lazyLocales: RolldownPlugin = {
  name: "lazy-locales",
  resolveId: (id) => (id === "lazy-locales" ? id : null),
  load: (id) =>
    id === "lazy-locales"
      ? `import { createRequire } from "node:module";
const load = createRequire(import.meta.url);
const lazy = (name) => [name, { enumerable: true, get: () => load("./zod-locales.js")[name] }];
export const locales = Object.defineProperties({}, Object.fromEntries(${JSON.stringify(Object.keys(locales))}.map(lazy)));`
      : null,
};

/** Changes to what packages make when they are loaded, or for each request, and few runs need: the file, the code, and its replacement. */
const later: readonly (readonly [file: RegExp, from: RegExp, to: string])[] = [
  [
    /\/zod\/v4\/(core\/index|classic\/external)\.js$/,
    /export \* as locales from "[^"]+"/,
    'export { locales } from "lazy-locales"',
  ],
  // Streams of the web take Node 6 ms to load, and the schema of a streamed piece takes 2 ms to make.
  [
    /\/eventsource-parser\/dist\/stream\.js$/,
    /^class EventSourceParserStream (extends TransformStream \{.*?^\})/ms,
    "let made; function EventSourceParserStream(options) { made ??= class $1; return new made(options); }",
  ],
  // The class `Headers` takes Node 20 ms to load, with all of its `fetch`: the request is sent before that.
  [
    /\/@ai-sdk\/provider-utils\/dist\/index\.js$/,
    /headers instanceof Headers(\).*?)new Headers\((normalizeHeaders\(headers\))\)/s,
    "Object.prototype.toString.call(headers) === '[object Headers]'$1new Map(Object.entries($2))",
  ],
  // Two more schemas, of errors and of options: most requests need neither, and the first schemas take longest.
  [
    /\/@ai-sdk\/openai-compatible\/dist\/index\.js$/,
    /(const defaultOpenAICompatibleErrorStructure = \{\s*errorSchema: )(.*?)(?=,\s*errorToMessage)/s,
    `function onUse(make) {
  let made;
  const get = () => made ??= make();
  return new Proxy({}, { get: (_, name) => get()[name], has: (_, name) => name in get() });
}
$1onUse(() => $2)`,
  ],
  [
    /\/@ai-sdk\/openai-compatible\/dist\/index\.js$/,
    /(const openaiCompatibleLanguageModelChatOptions = )(z\.object\(\{.*?^\}\))/ms,
    "$1onUse(() => $2)",
  ],
  [
    /\/@ai-sdk\/openai-compatible\/dist\/index\.js$/,
    /(createOpenAICompatibleChatChunkSchema\(errorStructure\.errorSchema\))/,
    "lazySchema(() => zodSchema($1))",
  ],
  // Each request encodes the conversation once more for its caller, and the arguments of all calls by a function for each member: we read
  // no request, and arguments are JSON.
  [
    /\/@ai-sdk\/openai-compatible\/dist\/index\.js$/,
    /const body = JSON\.stringify\(transformedBody\);(.*?)request: \{ body \}/s,
    "$1request: {}",
  ],
  [
    /\/@ai-sdk\/provider-utils\/dist\/index\.js$/,
    /(function stringifyWithBigIntAndCycles\(value\) \{)/,
    "$1 return JSON.stringify(value);",
  ],
];

const onNeed: RolldownPlugin = {
  name: "on-need",
  transform(code, id) {
    const changes = later.filter(([file]) => file.test(id));
    if (changes.length === 0) return null;
    let changed = code;
    for (const [, from, to] of changes) {
      if (!from.test(changed)) throw new Error(`${id} has changed: see \`later\` in scripts/build.ts`);
      changed = changed.replace(from, to);
    }
    return { code: changed, map: null };
  },
};

function objectOf(id: string): string {
  return `globalThis.process.getBuiltinModule("${id}")`;
}

/** Writes a bundle into dist/. */
async function bundle(input: Readonly<Record<string, string>>, groups: CodeSplittingGroup[]): Promise<OutputChunk[]> {
  const built = await rolldown({
    input,
    platform: "node",
    plugins: [startFunctions, builtIns, lazyLocales, onNeed, ascii],
    external: isExternal,
    // Lowers syntax that the oldest Node does not have, such as `await using`.
    transform: { target: "es2024" },
  });
  const { output } = await built.write({
    dir: "dist",
    sourcemap: true,
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    // All in one folder below dist/: src/host/module-hooks.ts finds dist/ from its own place.
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups },
  });
  await built.close();
  return output.filter((chunk) => chunk.type === "chunk");
}

const sourceOf = (entry: string) => [entry, `src/${entry}.ts`] as const;

/** Holds the digests of what the last build read and made. It lies where nothing is packed, and goes with the packages that were bundled. */
const stamp = "node_modules/.cache/llm-do-build";

function readState(): string {
  const digestOf = (...patterns: readonly string[]) => {
    const files = globSync(patterns).filter((path) => statSync(path).isFile());
    return sha256(
      files
        .sort()
        .map((path) => `${path} ${sha256(readFileSync(path))}`)
        .join("\n"),
    );
  };
  return `${process.version} ${digestOf("src/**", "scripts/*", "*.json")} ${digestOf("dist/**")}`;
}

if (existsSync(stamp) && readFileSync(stamp, "utf8") === readState()) process.exit(0);
rmSync(stamp, { force: true });
rmSync("dist", { recursive: true, force: true });
for (const thread of threads) await bundle(Object.fromEntries([sourceOf(thread)]), []);
await bundle({ "zod-locales": "zod/locales" }, []);
const input = { ...Object.fromEntries(entries.map(sourceOf)), zod: "zod" };
const groups = [{ name: chunkOf, debugName: "start" }];
const chunks = await bundle(input, groups);
writeFileSync(
  "dist/third-party-notices.txt",
  renderNotices(chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative("", id)))),
);
process.exitCode = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" }).status ?? 1;
if (process.exitCode === 0) {
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, readState());
}
