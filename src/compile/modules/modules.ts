import { basename, relative } from "node:path";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import { programSuffix } from "../../protocol/program-file.ts";
import { readProgram } from "../../toolsets/kept-program.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import type { Home } from "../home.ts";
import type { ProgramFiles } from "../program-files.ts";
import { lexModule } from "./lex-module.ts";
import { locateFailure } from "./locate-failure.ts";

/** The exports of a module, as far as its text shows. */
export interface ModuleExports {
  readonly path: string;
  /** Each name with its place, where the text says it. */
  readonly names: ReadonlyMap<string, Span | undefined>;
  /** False if there may be more: the text does not say, and nothing may be imported to find out. */
  readonly complete: boolean;
  /** It has been reported why it cannot be used. */
  readonly failed: boolean;
}

export interface ModulesOptions {
  readonly host: Host;
  readonly files: ProgramFiles;
  /** The program's folder is trusted: its code may run. */
  readonly trusted: boolean;
  readonly report: Report;
}

/** A use of a module: the home that it must lie in, and the span that refers to it, for diagnostics. */
export interface ModuleUse {
  readonly home: Home;
  readonly from?: Span | undefined;
}

/** The program's code. Texts are read to learn names; a module is imported only where a value of it is needed, and only with trust. */
export class Modules {
  readonly trusted: boolean;
  readonly #options: ModulesOptions;
  readonly #exports = new Map<string, Promise<ModuleExports>>();
  readonly #values = new Map<string, Promise<ReadonlyMap<string, unknown> | undefined>>();
  readonly #used = new Map<string, Home>();

  constructor(options: ModulesOptions) {
    this.#options = options;
    this.trusted = options.trusted;
  }

  /** True if a value of any module is needed. */
  get areUsed(): boolean {
    return this.#used.size > 0;
  }

  /** Does not run the module if its text says all. */
  exports(path: string, { home, from }: ModuleUse): Promise<ModuleExports> {
    return getOrMake(this.#exports, path, () => this.#findExports(path, { home, from }));
  }

  /** The values that a module exports. Undefined without trust, and if it fails, with a diagnostic. */
  async values(path: string, { home, from }: ModuleUse): Promise<ReadonlyMap<string, unknown> | undefined> {
    // Code that cannot be read as a text, or leads out of the program by a link, is not imported.
    if (!(await this.#options.files.read(path, { home, from }))) return undefined;
    this.#used.set(path, home);
    if (!this.trusted) return undefined;
    return getOrMake(this.#values, path, () => this.#import(path, { home, from }));
  }

  /** The modules whose values are needed, which a run executes, by path. */
  get used(): ReadonlyMap<string, Home> {
    return this.#used;
  }

  async #findExports(path: string, use: ModuleUse): Promise<ModuleExports> {
    const source = await this.#options.files.read(path, use);
    if (source === undefined) return { path, names: new Map(), complete: false, failed: true };
    if (path.endsWith(programSuffix)) {
      const span = { source, start: 0, end: 0 };
      return { path, names: new Map([[basename(path, programSuffix), span]]), complete: true, failed: false };
    }
    const { names, complete } = await lexModule(source);
    if (complete) return { path, names, complete, failed: false };
    const values = await this.values(path, use);
    if (!values) return { path, names, complete: this.trusted, failed: this.trusted };
    return { path, names: new Map([...values.keys()].map((name) => [name, names.get(name)])), complete: true, failed: false };
  }

  /** Describes what code that was imported threw, at its place. */
  locate(thrown: unknown, { home, from }: ModuleUse): ReturnType<typeof locateFailure> {
    const { host, files } = this.#options;
    // A frame can name a file that is not there, such as the source of what was compiled elsewhere.
    const read = async (path: string) => ((await host.files.kind(path)) === "file" ? files.readModule(path) : undefined);
    const exists = async (path: string) => (await host.files.kind(path)) === "file";
    return locateFailure(thrown, { workingDirectory: host.workingDirectory, folder: home.folder, read, exists, from });
  }

  async #import(path: string, use: ModuleUse): Promise<ReadonlyMap<string, unknown> | undefined> {
    const { host, files, report } = this.#options;
    try {
      if (path.endsWith(programSuffix)) {
        const name = basename(path, programSuffix);
        return new Map([[name, readProgram(name, (await files.read(path, use))?.text ?? "")]]);
      }
      return new Map(Object.entries(await host.importModule(path)));
    } catch (thrown) {
      const shown = relative(host.workingDirectory, path);
      const { message, ...place } = await this.locate(thrown, use);
      return report("code-failed", { message: `\`${shown}\` does not load: ${message}`, ...place });
    }
  }
}
