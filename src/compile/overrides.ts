import type { Report } from "../diagnostics/diagnose.ts";
import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import { extraKeys, workerKeys } from "../language/worker-keys.ts";
import { parseYaml } from "../language/yaml/parse-yaml.ts";
import type { MapNode, SyntaxNode } from "../language/yaml/syntax-node.ts";
import type { ProgramOptions } from "../protocol/fact.ts";
import { parseJson } from "../util/json/parse-json.ts";
import { clipText } from "../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../util/text/did-you-mean.ts";
import { matchesFlatGlob } from "../util/text/flat-glob.ts";
import { createFlagSource, wholeOf } from "./flag.ts";
import type { LoadedWorker } from "./load-worker.ts";

/** The worker that an override may mean. */
type Overridden = Pick<LoadedWorker, "id" | "name" | "isEntry">;

/** Makes the source of an option's words. */
type CreateSource = (name: string, text: string) => Source;

export interface OverrideOptions {
  readonly set?: readonly string[] | undefined;
  readonly modelFor?: readonly string[] | undefined;
  /** Come first, so that the user's win. */
  readonly ofProgram?: ProgramOptions | undefined;
  readonly createOption?: CreateSource;
}

/** Settings of the command line over those of the program's files: `--set` and `--model-for`. The last one wins. */
export class Overrides {
  readonly #report: Report;
  readonly #sets: readonly Override[];
  readonly #models: readonly { readonly pattern: Spanned<string>; readonly glob: string; readonly model: Spanned<string> }[];
  readonly #used = new Map<object, Overridden>();

  constructor({ set = [], modelFor = [], ofProgram = {}, createOption }: OverrideOptions, report: Report) {
    this.#report = report;
    const { set: sets = [], modelFor: models = [] } = ofProgram;
    this.#sets = [
      ...sets.flatMap((text) => parseOverride(text, report, createOption) ?? []),
      ...set.flatMap((text) => parseOverride(text, report) ?? []),
    ];
    this.#models = [
      ...models.flatMap((text) => parseModelFor(text, report, createOption) ?? []),
      ...modelFor.flatMap((text) => parseModelFor(text, report) ?? []),
    ];
  }

  /** All of them as they were written: part of what a program is. */
  get texts(): readonly string[] {
    return [...this.#sets.map(({ text }) => text), ...this.#models.map(({ model }) => model.span.source.text)];
  }

  /** A worker's frontmatter as the command line has it. */
  patch(root: MapNode, worker: Overridden): MapNode {
    let patched = root;
    for (const override of this.#sets) {
      const path = pathIn(override, worker);
      if (path) patched = setIn(patched, path, { value: override.value, report: this.#report });
      if (path) this.#use(override, worker);
    }
    return patched;
  }

  /** The model of a worker by `--model-for`. */
  modelFor(worker: Overridden): { readonly model: Spanned<string>; readonly flag: string } | undefined {
    const matching = this.#models.filter(({ glob }) => matchesFlatGlob(glob, worker.name) || matchesFlatGlob(glob, worker.id));
    for (const one of matching) this.#used.set(one, worker);
    const last = matching.at(-1);
    return last && { model: last.model, flag: last.model.span.source.name };
  }

  /** Reports overrides that met no worker; to be called when all are known. */
  reportUnused(workers: Iterable<Overridden>): void {
    const known = [...workers];
    const names = [...new Set(known.map(({ name }) => name))].sort();
    for (const override of this.#sets) if (!this.#used.has(override)) this.#reportTarget(override.segments[0], names);
    for (const { pattern } of this.#models.filter((one) => !this.#used.has(one))) {
      const message = `\`${clipText(pattern.value, 60)}\` matches no worker that the entry reaches`;
      const note = `the workers: ${quoteNames(names)}`;
      this.#report("override-target", { message, span: pattern.span, note });
    }
  }

  #use(override: Override, worker: Overridden): void {
    const other = this.#used.get(override);
    this.#used.set(override, worker);
    if (!other || other.id === worker.id) return;
    const [first] = override.segments;
    const message = `\`${first.value}\` could be the worker \`${other.id}\` or \`${worker.id}\``;
    const note = `write \`["${worker.id}"]\` in the place of the name`;
    this.#report("override-target", { message, span: first.span, note });
  }

  #reportTarget(first: Spanned<string>, names: readonly string[]): void {
    const all = names.length > 0 ? `the workers: ${quoteNames(names)}` : "there is no worker";
    const note = didYouMean(first.value, [...names, ...keys]) ?? all;
    const message = `\`${clipText(first.value, 60)}\` is neither a key of the entry nor a worker that it reaches`;
    this.#report("override-target", { message, span: first.span, note });
  }
}

const keys: readonly string[] = Object.keys({ ...workerKeys, ...extraKeys });

/** The part of an override's key that is a path in this worker's frontmatter; undefined if another worker is meant. */
function pathIn({ segments }: Override, { id, name, isEntry }: Overridden): readonly Spanned<string>[] | undefined {
  const [first, ...rest] = segments;
  const isKey = rest.length === 0 || keys.includes(first.value) || first.value.startsWith("x-");
  if (isKey) return isEntry ? segments : undefined;
  return first.value === name || first.value === id ? rest : undefined;
}

/** `--set worker.key=value`, taken apart. */
export interface Override {
  readonly text: string;
  readonly segments: readonly [Spanned<string>, ...Spanned<string>[]];
  readonly value: SyntaxNode;
}

/** No key of a worker file lies deeper than YAML nests there. */
const mostSegments = 100;

const form = 'write `key=value` or `worker.key=value`; a key with dots in it as `["literal"]`';

/** One part of a key: a quoted text in brackets, with backslash escapes, or a word up to the next `.`, `[` or `=`. */
const segment = /\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]|([^.[=]*)/sy;

/**
 * Reads dots, `["literal"]` segments, and a value: JSON, `true` or `false` in any case, or else text. The first `=` outside
 * of brackets splits. Undefined, with a diagnostic, if that cannot be done.
 */
export function parseOverride(text: string, report: Report, createSource: CreateSource = createFlagSource): Override | undefined {
  const source = createSource(`--set ${text}`, text);
  const end = text.length;
  const refuse = (message: string, start: number) =>
    report("override-syntax", { message, note: form, span: { source, start, end } });
  const segments: Spanned<string>[] = [];
  for (let at = 0; ; ) {
    const { written, value, start } = readSegment(text, at);
    if (written === "" && text[at] === "[") return refuse("a bracket holds one quoted text, and is closed", at);
    if (value.trim() === "") return refuse(text.trim() === "" ? "there is no key" : "a part of the key is empty", at);
    if (segments.length === mostSegments) return refuse(`a key has at most ${mostSegments} parts`, at);
    segments.push({ value, span: { source, start, end: text[at] === "[" ? at + written.length : start + value.length } });
    at += written.length;
    const [first, ...rest] = segments;
    if (first && text[at] === "=") {
      return { text, segments: [first, ...rest], value: readValue({ source, start: at + 1, end }, report) };
    }
    if (text[at] === ".") at++;
    else if (text[at] !== "[") return refuse(text[at] === undefined ? "there is no `=`" : "a `.` or `=` is missing here", at);
  }
}

function readSegment(text: string, at: number) {
  segment.lastIndex = at;
  const [written = "", double, single, word = ""] = segment.exec(text) ?? [];
  const literal = (double ?? single)?.replace(/\\(.)/gs, "$1");
  const value = literal ?? word.trim();
  return { written, value, start: literal === undefined ? at + word.indexOf(value) : at };
}

/** Collections are read as the YAML that JSON is, so that each value in them knows its place. */
function readValue(span: Span, report: Report): SyntaxNode {
  const text = span.source.text.slice(span.start, span.end);
  const node = { kind: "scalar" as const, span, text, plain: false };
  if (/^\s*true\s*$/i.test(text)) return { ...node, value: true };
  if (/^\s*false\s*$/i.test(text)) return { ...node, value: false };
  const value = parseJson(text);
  if (value === undefined) return { ...node, value: text };
  if (typeof value === "object" && value !== null) return parseYaml(span, report);
  return { ...node, text: text.trim(), value: value as string | number | boolean | null };
}

/** `--model-for glob=model`: the glob is matched against workers' names and ids. */
export function parseModelFor(
  text: string,
  report: Report,
  createSource: CreateSource = createFlagSource,
): { readonly pattern: Spanned<string>; readonly glob: string; readonly model: Spanned<string> } | undefined {
  const source = createSource(`--model-for ${text}`, text);
  const split = text.indexOf("=");
  const pattern = text.slice(0, Math.max(0, split));
  const model = text.slice(split + 1);
  if (split < 0 || pattern.trim() === "" || model.trim() === "") {
    const note = "write `pattern=provider:name`, for example `*_reviewer=anthropic:claude-sonnet-4-5`";
    return report("override-syntax", { message: "this names no workers or no model", span: wholeOf(source), note });
  }
  return {
    pattern: { value: pattern.trim(), span: { source, start: 0, end: split } },
    glob: pattern.trim(),
    model: { value: model.trim(), span: { source, start: split + 1, end: text.length } },
  };
}

export interface Setting {
  readonly value: SyntaxNode;
  readonly report: Report;
}

/** A map with one value in it replaced or added; maps on the way are made. Keys that are there keep their place. */
export function setIn(root: MapNode, [key, ...rest]: readonly Spanned<string>[], setting: Setting): MapNode {
  if (!key) return root;
  const present = root.entries.find((entry) => entry.key.value === key.value);
  const value = rest.length === 0 ? setting.value : setInside(present?.value, { key, rest, setting });
  if (value === undefined) return root;
  if (!present) return { ...root, entries: [...root.entries, { key, value }] };
  return { ...root, entries: root.entries.map((entry) => (entry === present ? { key: entry.key, value } : entry)) };
}

interface Step {
  readonly key: Spanned<string>;
  readonly rest: readonly Spanned<string>[];
  readonly setting: Setting;
}

function setInside(present: SyntaxNode | undefined, { key, rest, setting }: Step): SyntaxNode | undefined {
  const isNothing = present === undefined || (present.kind === "scalar" && present.value === null);
  if (isNothing) return setIn({ kind: "map", span: key.span, entries: [] }, rest, setting);
  if (present.kind === "map") return setIn(present, rest, setting);
  if (present.kind === "unreadable") return undefined;
  const inner = clipText(rest[0]?.value ?? "", 60);
  const message = `\`${clipText(key.value, 60)}\` is not a map, so nothing in it is called \`${inner}\``;
  return setting.report("override-path", {
    message,
    span: key.span,
    notes: [{ message: "its value is here", span: present.span }],
  });
}
