import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Script } from "node:vm";
import { findStateDirectory } from "./state-directory.ts";

/** The parts of a chunk's file, as `scripts/build.ts` wrote it. */
interface ChunkLayout {
  /** Offsets of the code between the imports and the exports. */
  readonly body: readonly [from: number, to: number];
  /** Offsets of `import()` and `import.meta`, which a script cannot have. */
  readonly dynamic: readonly number[];
  /** Names of the imports, in the order of their values. */
  readonly imports: readonly string[];
  /** Members of an object literal: the exported names with the names that they have in the chunk. */
  readonly exports: string;
}

/** Compiled code of an earlier process. */
interface Kept {
  readonly code: Buffer;
  /** The number of processes that have written it. */
  readonly writes: number;
}

interface LoadedChunk {
  readonly script: Script;
  /** A digest of its text. */
  readonly digest: Buffer;
  /** Path of its compiled code. */
  readonly path: string;
  /** 0 where there was no compiled code. */
  readonly writes: number;
}

const digestLength = 32;
/** Each of the first processes adds the functions that it called. After them compiled code changes only with the loaded chunks. */
const mostWrites = 8;
/** Compiled code that was written so long ago is removed, in milliseconds: 30 days. */
const mostAge = 30 * 24 * 3600 * 1000;

const folder = findFolder();
const loaded: LoadedChunk[] = [];

/** In the place of `import` in a chunk. */
interface Import {
  (specifier: string, options?: ImportCallOptions): Promise<unknown>;
  readonly meta: ImportMeta;
}

/**
 * Returns the exports of the chunk with the caller's file name. Runs it as a script with the code that V8 compiled in an earlier
 * process: also of functions that were first called later, which Node's own cache lacks.
 */
export function loadChunk(load: Import, layout: ChunkLayout, imports: readonly unknown[]): unknown {
  const { filename, url } = load.meta;
  const name = basename(filename);
  const path = join(filename, "../../chunks", name);
  if (folder === undefined) return createRequire(url)(path);
  const text = readFileSync(path);
  const digest = sha256(text);
  const keptPath = join(folder, `${name}.bin`);
  const kept = readKept(keptPath, digest);
  const script = new Script(toScript(text, layout), {
    filename: new URL(`../chunks/${name}`, url).href,
    ...(kept ? { cachedData: kept.code } : {}),
  });
  if (loaded.length === 0) process.once("exit", keepAll);
  loaded.push({ script, digest, path: keptPath, writes: kept && !script.cachedDataRejected ? kept.writes : 0 });
  return script.runInThisContext()(load, ...imports);
}

/** Line numbers are those of the file, which is ASCII. */
function toScript(text: Buffer, { body: [from, to], dynamic, imports, exports }: ChunkLayout): string {
  const edges = [from, ...dynamic, to];
  const parts = dynamic.map((_, index) => text.toString("latin1", edges[index], edges[index + 1]));
  const last = text.toString("latin1", edges.at(-2), to);
  return `(function ($import, ${imports.join(", ")}) {"use strict";${[...parts, last].join("$")}\nreturn {${exports}};})`;
}

/** Undefined where chunks are to be loaded as modules: where Node's own cache is off, and where source maps or coverage need modules. */
function findFolder(): string | undefined {
  const { env, platform, arch, version } = process;
  if (env["NODE_DISABLE_COMPILE_CACHE"] || env["NODE_V8_COVERAGE"] || process.sourceMapsEnabled) return undefined;
  const facts = { environment: env, platform, homeDirectory: homedir(), workingDirectory: process.cwd() };
  const parent = env["NODE_COMPILE_CACHE"] || join(findStateDirectory(facts), "compile-cache");
  return resolve(parent, `llm-do-${version}-${arch}-${process.getuid?.() ?? ""}`);
}

/** V8 itself compares versions and flags, and of the source no more than its length. */
function readKept(path: string, digest: Buffer): Kept | undefined {
  try {
    const file = readFileSync(path);
    const whole = file.subarray(0, -digestLength);
    if (!sha256(digest, whole).equals(file.subarray(-digestLength))) return undefined;
    return { code: whole.subarray(0, -1), writes: whole.at(-1) ?? 0 };
  } catch {
    return undefined;
  }
}

function sha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Writes the compiled code of all loaded chunks, unless that of each was complete. A folder that cannot be written costs only time. */
function keepAll(): void {
  if (folder === undefined || loaded.every(({ writes }) => writes >= mostWrites)) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const { script, digest, path, writes } of loaded) {
      const whole = Buffer.concat([script.createCachedData(), Buffer.of(Math.min(writes + 1, mostWrites))]);
      const temporary = `${path}-${randomBytes(6).toString("hex")}`;
      writeFileSync(temporary, Buffer.concat([whole, sha256(digest, whole)]), { mode: 0o600, flag: "wx" });
      renameSync(temporary, path);
    }
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (Date.now() - statSync(path).mtimeMs > mostAge) rmSync(path);
    }
  } catch {}
}
