import type { Report } from "../diagnostics/diagnose.ts";
import type { Spanned } from "../diagnostics/source.ts";
import type { MapNode } from "../language/syntax-node.ts";
import { extraKeys, workerKeys } from "../language/worker-keys.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { matchesFlatGlob } from "../util/flat-glob.ts";
import { type Override, parseModelFor, parseOverride } from "./parse-override.ts";
import { setIn } from "./set-in.ts";

/** The worker that an override may mean. */
export interface Overridden {
  readonly id: string;
  readonly name: string;
  readonly isEntry: boolean;
}

/** What the command line says over the program's files: `--set` and `--model-for`. The last one holds. */
export class Overrides {
  readonly #report: Report;
  readonly #sets: readonly Override[];
  readonly #models: readonly ModelFor[];
  readonly #used = new Map<object, Overridden>();

  constructor(
    { set = [], modelFor = [] }: { set?: readonly string[] | undefined; modelFor?: readonly string[] | undefined },
    report: Report,
  ) {
    this.#report = report;
    this.#sets = set.flatMap((text) => parseOverride(text, report) ?? []);
    this.#models = modelFor.flatMap((text) => parseModelFor(text, report) ?? []);
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

  /** What `--model-for` says about a worker. */
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

interface ModelFor {
  readonly pattern: Spanned<string>;
  readonly glob: string;
  readonly model: Spanned<string>;
}

const keys: readonly string[] = Object.keys({ ...workerKeys, ...extraKeys });

/** The part of an override's key that is a path in this worker's frontmatter; undefined where another worker is meant. */
function pathIn({ segments }: Override, { id, name, isEntry }: Overridden): readonly Spanned<string>[] | undefined {
  const [first, ...rest] = segments;
  const isKey = rest.length === 0 || keys.includes(first.value) || first.value.startsWith("x-");
  if (isKey) return isEntry ? segments : undefined;
  return first.value === name || first.value === id ? rest : undefined;
}
