import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { CompileError } from "../../compile/compile-error.ts";
import { manifestName } from "../../compile/load-manifest.ts";
import type { Program } from "../../front/llm-do.ts";
import type { Host } from "../../host/host.ts";
import { keyOf } from "../../journal/stores/folder-store.ts";
import { parseManifest } from "../../language/manifest.ts";
import { usesFiles } from "../../runtime/connect/open-call-scopes.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { isWithin } from "../../util/within.ts";
import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";
import { type CompileFlags, type OpenOptions, openProgram } from "../programs/open-program.ts";

/** A program that an executor has. */
export interface DeployedProgram {
  /** As stores in databases name it. */
  readonly key: string;
  readonly root: string;
  readonly program: Program | undefined;
  /** Why its runs wait here. */
  readonly problem: string | undefined;
}

/** The name of the program in a folder; undefined for a folder that is no program with a name. Its runs are found by it. */
export async function readProgramName(host: Host, root: string): Promise<string | undefined> {
  const text = await host.files.readText(join(root, manifestName), { within: root }).catch(() => "");
  return parseManifest({ name: manifestName, text }).file.name?.value;
}

export interface DeployOptions extends OpenOptions {
  readonly host: Host;
  /** The time that the code of a program has to load. */
  readonly loadSeconds: number;
}

/** Compiles the programs that lie in some folders, or are these. Rejects with a `UsageError` if there is none. */
export async function findPrograms(
  folders: readonly string[],
  flags: CompileFlags,
  options: DeployOptions,
): Promise<readonly DeployedProgram[]> {
  const { host } = options;
  const found = new Map<string, { readonly key: string; readonly root: string; readonly folder: string }>();
  for (const folder of folders) {
    const root = await host.files.realPath(resolve(host.workingDirectory, folder)).catch(() => undefined);
    if (root === undefined) throw new UsageError(`--programs ${folder}: there is no such folder`);
    const inner = [...(await host.files.names(root))].sort().map((name) => join(root, name));
    for (const place of [root, ...inner]) {
      const name = await readProgramName(host, place).catch(() => undefined);
      if (name === undefined) continue;
      const key = keyOf({ root: place, name }, true);
      const other = found.get(key);
      if (other && other.root !== place) throw new UsageError(`${other.root} and ${place} are both the program \`${name}\``);
      found.set(key, { key, root: place, folder: root });
    }
  }
  if (found.size === 0) throw new UsageError(`no program with a \`name:\` in ${manifestName} lies in ${folders.join(", ")}`);
  // Side by side: code that does not load keeps no other program from it.
  const compiling = [...found.values()].map(async ({ key, root, folder }) => {
    return { key, root, ...(await compileAt(root, { folder, flags, options })) };
  });
  return Promise.all(compiling);
}

/** Where an executor has a program. */
export interface ProgramPlace {
  readonly key: string;
  /** This machine, and the folder. */
  readonly name: string;
  /** The scopes in which its runs write, and which other executors may not have. */
  readonly scopes: readonly string[];
}

/** Returns the place of each program. Throws a `UsageError` if a scope that is said to be shared is none of them. */
export function findPlaces(programs: readonly DeployedProgram[], shared: readonly string[]): ReadonlyMap<string, ProgramPlace> {
  // The scope of workers that declare none counts where their tools are made for it.
  const written = ({ program }: DeployedProgram) =>
    [...(program?.workers.values() ?? [])].flatMap((worker) =>
      worker.scopes.filter(({ name, mode }) => mode === "rw" && (name !== "." || usesFiles(worker))),
    );
  const names = new Set(programs.flatMap(written).map(({ name }) => name));
  const unknown = shared.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--shared ${unknown}: no program here writes in such a scope${names.size > 0 ? `; they write in ${[...names].join(", ")}` : ""}`,
    );
  return new Map(
    programs.map((deployed) => {
      const scopes = [...new Set(written(deployed).map(({ name }) => name))].filter((name) => !shared.includes(name));
      return [deployed.key, { key: deployed.key, name: `${hostname()}:${deployed.root}`, scopes }];
    }),
  );
}

interface CompileParts {
  /** That in which the program was found: no scope may write there. */
  readonly folder: string;
  readonly flags: CompileFlags;
  readonly options: DeployOptions;
}

/** Runs of a program that does not compile here wait, and say why. */
async function compileAt(root: string, { folder, flags, options }: CompileParts) {
  try {
    const { program } = await inTime(openProgram([root], flags, options), options.loadSeconds);
    for (const { id, scopes } of program.workers.values())
      for (const { name, mode, realRoot } of scopes)
        if (mode === "rw" && realRoot !== undefined && realRoot !== root && isWithin(folder, realRoot))
          throw new UsageError(`the scope \`${name}\` of ${id} could write programs of this executor: ${realRoot}`);
    return { program, problem: undefined };
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const first = thrown instanceof CompileError ? thrown.diagnostics.find(({ severity }) => severity === "error") : undefined;
    const problem = first?.message ?? errorMessage(thrown);
    writeStderr(`llm-do: ${root} cannot run here: ${problem}\n`);
    return { program: undefined, problem };
  }
}

/** Code of a program may never finish loading. What loads later is not taken. */
async function inTime<T>(opening: Promise<T>, seconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`its code did not load within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([opening, late]).finally(() => clearTimeout(timer));
}
