import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { Report } from "../diagnostics/diagnose.ts";
import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { getOrMake } from "../util/get-or-make.ts";
import { sha256 } from "../util/sha256.ts";
import { clipText } from "../util/text/clip-text.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { isWithin } from "../util/within.ts";
import { isFlag } from "./flag.ts";
import type { Home } from "./home.ts";

export interface ProgramFilesOptions {
  readonly host: Host;
  readonly report: Report;
  /** Files that the user named one by one: they may lie anywhere. */
  readonly listed?: readonly string[] | undefined;
}

/** The home that a file must lie in, links resolved, and what refers to the file. */
export interface FileUse {
  readonly home: Pick<Home, "folder" | "package">;
  readonly from?: Span | undefined;
}

interface Reading {
  readonly from?: Span | undefined;
  /** The folder that it must lie in. */
  readonly within?: string | undefined;
}

/** In bytes. Code and schemas can be generated; workers and manifests are written by hand. */
const mostOfSource = 10_000_000;
const mostOfSettings = 1_000_000;

/** The replacement character that a decoder writes for bytes it cannot read. */
const replacement = "\uFFFD";

/** The files of one program, each read once. Whatever was read counts as part of the program. */
export class ProgramFiles {
  readonly #host: Host;
  readonly #report: Report;
  readonly #texts = new Map<string, Promise<Source | undefined>>();
  readonly #places = new WeakMap<Source, string>();
  readonly #digests = new Map<string, string>();
  readonly #folders = new Map<string, string>();
  readonly #real = new Map<string, Promise<string>>();
  readonly #listed: Set<string>;
  readonly #reserved = new Set<string>();

  constructor({ host, report, listed = [] }: ProgramFilesOptions) {
    this.#host = host;
    this.#report = report;
    this.#listed = new Set(listed);
  }

  /** SHA-256 of every file that was read, by absolute path. */
  get digests(): ReadonlyMap<string, string> {
    return this.#digests;
  }

  /** The text of a file; undefined, with a diagnostic, if it leads out of its home by a link or cannot be read. */
  async read(path: string, { home, from }: FileUse): Promise<Source | undefined> {
    if (!(await this.isConfined(path, home))) {
      const message = `\`${relative(this.#host.workingDirectory, path)}\` is a link that leads out of ${describe(home)}`;
      return this.#report("reference-outside", { message, span: from });
    }
    const within = this.#listed.has(path) ? undefined : home.folder;
    return getOrMake(this.#texts, path, () => this.#read(path, { from, within }));
  }

  /** The text of a module that code of the program imports, wherever it lies: the user is asked to trust it by its path. */
  readModule(path: string): Promise<Source | undefined> {
    return getOrMake(this.#texts, path, () => this.#read(path, {}));
  }

  /** Gives a text that is not on disk its place, for its relative paths. */
  place(source: Source, path: string): void {
    this.#places.set(source, path);
  }

  /** Counts a path as part of the program, existing or not: what would be found there would be its code or its text. */
  reserve(path: string): void {
    this.#reserved.add(path);
  }

  /** Counts a folder with all that is in it as part of the program, existing or not. `digests`: of folders in it, by their paths. */
  holdFolder(path: string, digests: ReadonlyMap<string, string>): void {
    this.reserve(path);
    for (const [folder, digest] of digests) this.#folders.set(folder, digest);
  }

  /** Digests of folders, by absolute path. */
  get folders(): ReadonlyMap<string, string> {
    return this.#folders;
  }

  /** Absolute paths that were reserved. */
  get reserved(): ReadonlySet<string> {
    return this.#reserved;
  }

  /** The base of a file's relative paths; for a flag, the working directory. */
  folderOf({ source }: Span): string {
    const path = this.#places.get(source);
    return path === undefined ? this.#host.workingDirectory : dirname(path);
  }

  /**
   * The file that a path in another file means, relative to it or to `base`. Undefined, with a diagnostic, if it is not
   * there or leaves its home.
   */
  async resolve({ value, span }: Spanned<string>, home: Home, base = this.folderOf(span)): Promise<string | undefined> {
    const shown = clipText(value, 80);
    const path = resolve(base, value);
    if (!isFlag(span) && (isAbsolute(value) || !isWithin(path, home.folder))) {
      return this.#report("reference-outside", { message: `\`${shown}\` leads out of ${describe(home)}`, span });
    }
    if ((await this.#host.files.kind(path)) !== "file") {
      const own = this.#places.get(span.source);
      const others = (await this.#siblings(path, value)).filter((name) => resolve(base, name) !== own);
      const note = didYouMean(value, others);
      return this.#report("reference-missing", { message: `there is no file \`${shown}\``, span, note });
    }
    if (isFlag(span)) this.#listed.add(path);
    if (await this.isConfined(path, home)) return path;
    return this.#report("reference-outside", { message: `\`${shown}\` is a link that leads out of ${describe(home)}`, span });
  }

  /** True for a file that lies in its home, links followed, or that the user named. */
  async isConfined(path: string, home: FileUse["home"]): Promise<boolean> {
    if (this.#listed.has(path)) return true;
    const folder = this.#realPath(home.folder);
    return isWithin(await this.#realPath(path), await folder);
  }

  async #read(path: string, { from, within }: Reading): Promise<Source | undefined> {
    const name = relative(this.#host.workingDirectory, path);
    try {
      const maxBytes = /\.(?:worker|yaml)$/.test(path) ? mostOfSettings : mostOfSource;
      const source = {
        name,
        text: await this.#host.files.readText(path, { maxBytes, ...(within === undefined ? {} : { within }) }),
      };
      this.#places.set(source, path);
      this.#digests.set(path, sha256(source.text));
      if (source.text.includes(replacement) && !(await this.#isUtf8(path))) this.#reportNotUtf8(source);
      return source;
    } catch (thrown) {
      return this.#report("file-unreadable", { message: `\`${name}\` cannot be read: ${errorMessage(thrown)}`, span: from });
    }
  }

  async #isUtf8(path: string): Promise<boolean> {
    const bytes = await this.#host.files.readBytes(path, { maxBytes: mostOfSource });
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return true;
    } catch {
      return false;
    }
  }

  #reportNotUtf8(source: Source): void {
    const start = source.text.indexOf(replacement);
    const message = `\`${source.name}\` is not UTF-8: this character cannot be read`;
    const note = "save the file as UTF-8";
    this.#report("file-encoding", { message, span: { source, start, end: start + 1 }, note });
  }

  #realPath(path: string): Promise<string> {
    return getOrMake(this.#real, path, () => this.#host.files.realPath(path).catch(() => path));
  }

  async #siblings(path: string, written: string): Promise<string[]> {
    const folder = written.slice(0, written.lastIndexOf("/") + 1);
    const names = await this.#host.files.names(dirname(path)).catch(() => []);
    return names.map((name) => folder + name);
  }
}

function describe({ package: name }: FileUse["home"]): string {
  return name === undefined ? "the program's folder" : `the package \`${name}\``;
}
