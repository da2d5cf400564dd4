import { basename, relative } from "node:path";
import type { DiagnosticDetails } from "../../diagnostics/diagnose.ts";
import { lineSpan } from "../../diagnostics/position.ts";
import type { Source, Span } from "../../diagnostics/source.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { isWithin } from "../../util/within.ts";

export interface FailurePlaces {
  readonly workingDirectory: string;
  /** The folder whose modules can be pointed into; what packages throw is reported at the module that called them. */
  readonly folder: string;
  /** The text of a module, by its absolute path. */
  readonly read: (path: string) => Promise<Source | undefined>;
  /** Returns true if there is a file at an absolute path. */
  readonly exists: (path: string) => Promise<boolean>;
  /** Span that refers to the code: used where the place in the code is not known. */
  readonly from: Span | undefined;
}

/** Describes what code of the program threw, at its line in the module that threw it or that imports what is missing. */
export async function locateFailure(thrown: unknown, places: FailurePlaces): Promise<Omit<DiagnosticDetails, "note">> {
  const { workingDirectory, from } = places;
  const missing = missingModule(thrown);
  const span = await findSpan(thrown, missing, places);
  const message = missing?.message ?? errorMessage(thrown).replace(/^(?:file:\/\/)?\/[^\n]*?:\d+: /, "");
  const note = missing?.note ?? (await adviceOn(thrown, missing, places));
  const notes = [
    ...(note === undefined ? [] : [{ message: note }]),
    ...(span && from ? [{ message: "it is used here", span: from }] : []),
  ];
  return { message: message.replaceAll(`${workingDirectory}/`, ""), span: span ?? from, notes };
}

interface MissingModule {
  readonly message: string;
  readonly note?: string;
  /** Absolute path of the module that imports it. */
  readonly importer: string;
  /** A part of the specifier. */
  readonly specifier: string;
  /** Absolute path of the module that is not there, where it is no package. */
  readonly missing?: string;
}

function missingModule(thrown: unknown): MissingModule | undefined {
  const text = errorMessage(thrown);
  const [, name, by] = /^Cannot find package '([^']+)' imported from (.+)$/.exec(text) ?? [];
  if (name !== undefined && by !== undefined)
    return {
      message: `the package \`${name}\` is not installed`,
      note: `run \`npm install ${name}\` in the program's folder`,
      importer: by,
      specifier: name,
    };
  const [, path, importer] = /^Cannot find module '([^']+)' imported from (.+)$/.exec(text) ?? [];
  if (path === undefined || importer === undefined) return undefined;
  return { message: `there is no module \`${path}\``, importer, specifier: basename(path), missing: path };
}

/** Advice on mistakes that everybody makes in a module, from the text of the error and the files that there are. */
async function adviceOn(
  thrown: unknown,
  missing: MissingModule | undefined,
  { exists }: FailurePlaces,
): Promise<string | undefined> {
  const text = errorMessage(thrown);
  const [, specifier, name] = /module '([^']+)' does not provide an export named '([^']+)'/.exec(text) ?? [];
  if (name !== undefined && specifier !== undefined && /^[A-Z]/.test(name))
    return `if \`${name}\` is a type, write \`import type { ${name} } from "${specifier}"\``;
  if (/^(?:require|module|exports|__dirname|__filename) is not defined/.test(text))
    return 'write `import { … } from "…"` for `require`, and `export` for `module.exports`';
  if (/^Cannot use import statement outside a module/.test(text))
    return 'name the file `tools.ts`, or write `"type": "module"` in package.json';
  const { missing: path } = missing ?? {};
  for (const suffix of path === undefined ? [] : [".ts", ".js", ".mjs", "/index.ts"])
    if (await exists(`${path?.replace(/\.js$/, "")}${suffix}`))
      return `write \`./${basename(path ?? "").replace(/\.js$/, "")}${suffix}\`, with its suffix`;
  return undefined;
}

async function findSpan(
  thrown: unknown,
  missing: MissingModule | undefined,
  { folder, read }: FailurePlaces,
): Promise<Span | undefined> {
  const isOwn = (path: string) => isWithin(path, folder) && !relative(folder, path).includes("node_modules");
  if (missing) {
    const source = isOwn(missing.importer) ? await read(missing.importer) : undefined;
    return source && findSpecifier(source, missing.specifier);
  }
  const place = placesIn(thrown).find(({ path }) => isOwn(path));
  const source = place && (await read(place.path));
  if (!place || !source) return undefined;
  const line = lineSpan(source, place.line);
  const [, name] = /export named '([^']+)'/.exec(errorMessage(thrown)) ?? [];
  if (name !== undefined) return findText(source, name, line.start) ?? line;
  return { source, start: Math.min(line.start + (place.column ?? 1) - 1, line.end), end: line.end };
}

/** The name of a module in its specifier, which stands in quotes. */
function findSpecifier(source: Source, name: string): Span | undefined {
  const isMeant = (written: string) => written === name || written.startsWith(`${name}/`) || basename(written).startsWith(name);
  const found = [...source.text.matchAll(/(?<=["'])[^"'\n]+(?=["'])/g)].find(([written]) => isMeant(written));
  return findText(source, name, found?.index ?? 0);
}

/** A text as a whole word, or in quotes. */
function findText(source: Source, text: string, from: number): Span | undefined {
  const start = source.text.indexOf(text, from);
  return start === -1 ? undefined : { source, start, end: start + text.length };
}

interface ModulePlace {
  readonly path: string;
  readonly line: number;
  readonly column: number | undefined;
}

/** The frames of an error and of its causes; Node puts the place of a syntax error before them. */
function placesIn(thrown: unknown): ModulePlace[] {
  if (!(thrown instanceof Error)) return [];
  const lines = (thrown.stack ?? "").split("\n");
  const places = lines.flatMap((text, index): ModulePlace[] => {
    const [, path, line, column] =
      /(?:file:\/\/|^|\()(\/[^\n()]*?\.[cm]?[jt]s)(?:\?[^:]*)?:(\d+)(?::(\d+))?\)?$/.exec(text.trim()) ?? [];
    if (path === undefined) return [];
    // Node shows a few lines up to that of a syntax error, and below it a caret, in the place of a column.
    const caret = lines.slice(index + 1, index + 6).flatMap((below) => /^\s*\^/.exec(below)?.[0].length ?? [])[0];
    return [{ path: decodeURIComponent(path), line: Number(line), column: column === undefined ? caret : Number(column) }];
  });
  return [...places, ...placesIn(thrown.cause)];
}
