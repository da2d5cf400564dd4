import { dirname, relative, resolve } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source, Span } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Home } from "./home.ts";
import { isInside } from "./is-inside.ts";
import type { ProgramFiles } from "./program-files.ts";

/** What a module exports, as far as its text says. */
export interface ModuleExports {
  readonly path: string;
  /** Each name with its place, where the text says it. */
  readonly names: ReadonlyMap<string, Span | undefined>;
  /** False where there may be more: the text does not say, and nothing may be imported to find out. */
  readonly complete: boolean;
  /** It has been reported why it cannot be used. */
  readonly failed: boolean;
}

export interface ModulesOptions {
  readonly host: Host;
  readonly files: ProgramFiles;
  /** The program's folder is trusted: its code may run. */
  readonly trusted: boolean;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** Who looks at a module: the home that it must lie in, and what refers to it, for the diagnostic of one that fails. */
export interface ModuleUse {
  readonly home: Home;
  readonly from?: Span | undefined;
}

interface LexedModule {
  readonly names: ReadonlyMap<string, Span>;
  /** Relative specifiers of what runs with it. */
  readonly imports: readonly string[];
  readonly complete: boolean;
  readonly unreadable: boolean;
}

const nothing: LexedModule = { names: new Map(), imports: [], complete: false, unreadable: false };

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

  /** Whether a value of any module is needed. */
  get areUsed(): boolean {
    return this.#used.size > 0;
  }

  /** Does not run the module if its text says all. */
  exports(path: string, { home, from }: ModuleUse): Promise<ModuleExports> {
    const known = this.#exports.get(path) ?? this.#findExports(path, { home, from });
    this.#exports.set(path, known);
    return known;
  }

  /** The values that a module exports. Undefined without trust, and where it fails, with a diagnostic. */
  async values(path: string, { home, from }: ModuleUse): Promise<ReadonlyMap<string, unknown> | undefined> {
    // Code that cannot be read as a text, or leads out of the program by a link, is not imported.
    if (!(await this.#options.files.read(path, { home, from }))) return undefined;
    this.#used.set(path, home);
    if (!this.trusted) return undefined;
    const known = this.#values.get(path) ?? this.#import(path, from);
    this.#values.set(path, known);
    return known;
  }

  /** The files that a run would execute: modules whose values are needed, and what they import of their own home. */
  async usedFiles(): Promise<readonly string[]> {
    const found = new Map(this.#used);
    for (const [path, home] of found) {
      const { imports } = await this.#lex(path, { home });
      for (const specifier of imports) {
        const target = await this.#importedFile(resolve(dirname(path), specifier));
        if (target !== undefined && isInside(home.folder, target) && !found.has(target)) found.set(target, home);
      }
    }
    return [...found.keys()].sort();
  }

  async #findExports(path: string, use: ModuleUse): Promise<ModuleExports> {
    const { names, complete, unreadable } = await this.#lex(path, use);
    if (complete || unreadable) return { path, names, complete, failed: unreadable };
    const values = await this.values(path, use);
    if (!values) return { path, names, complete: this.trusted, failed: this.trusted };
    return { path, names: new Map([...values.keys()].map((name) => [name, names.get(name)])), complete: true, failed: false };
  }

  async #lex(path: string, use: ModuleUse): Promise<LexedModule> {
    const source = await this.#options.files.read(path, use);
    return source ? lexModule(source) : { ...nothing, unreadable: true };
  }

  async #import(path: string, from: Span | undefined): Promise<ReadonlyMap<string, unknown> | undefined> {
    const { host, report } = this.#options;
    try {
      return new Map(Object.entries(await host.importModule(path)));
    } catch (thrown) {
      const shown = relative(host.workingDirectory, path);
      report(diagnose("code-failed", { message: `\`${shown}\` does not load: ${errorMessage(thrown)}`, span: from }));
      return undefined;
    }
  }

  /** `./x.js` may stand for `./x.ts`, as it does when it runs. */
  async #importedFile(path: string): Promise<string | undefined> {
    for (const candidate of [path, path.replace(/\.([cm]?)js$/, ".$1ts")]) {
      if ((await this.#options.host.files.kind(candidate)) === "file") return candidate;
    }
    return undefined;
  }
}

/** Reads TypeScript and JavaScript alike. What a text without `export`, or with `export *`, exports is not known from it. */
async function lexModule(source: Source): Promise<LexedModule> {
  const { init, parse } = await import("es-module-lexer");
  await init;
  try {
    const [imports, exports] = parse(source.text);
    const values = exports.filter(({ typeOnly }) => !typeOnly);
    const named = values.flatMap((one) => (one.type === "reexport-all" ? [] : [one]));
    const specifiers = imports.flatMap((one) => ("typeOnly" in one && one.typeOnly ? [] : [one.specifier ?? ""]));
    return {
      names: new Map(named.map(({ name, start, end }) => [name, { source, start, end }])),
      imports: specifiers.filter((specifier) => /^\.{1,2}\//.test(specifier)),
      complete: named.length === values.length && values.length > 0,
      unreadable: false,
    };
  } catch {
    return nothing;
  }
}
