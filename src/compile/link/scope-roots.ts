import type { Report } from "../../diagnostics/diagnose.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { createFlagSource } from "../flag.ts";

/** `--scope`: folders that the user gives to declared scopes, in place of those in the files. */
export class ScopeRoots {
  readonly #report: Report;
  readonly #given: ReadonlyMap<string, { readonly name: Spanned<string>; readonly root: Spanned<string> }>;
  readonly #declared = new Set<string>();

  constructor(scopes: Readonly<Record<string, string>>, report: Report) {
    this.#report = report;
    const given = Object.entries(scopes).map(([name, root]) => {
      const source = createFlagSource(`--scope ${name}=${root}`, `${name}=${root}`);
      const end = source.text.length;
      const spanned = {
        name: { value: name, span: { source, start: 0, end: name.length } },
        root: { value: root, span: { source, start: name.length + 1, end } },
      };
      return [name, spanned] as const;
    });
    this.#given = new Map(given);
  }

  /** As they were written: part of what a program is. */
  get texts(): readonly string[] {
    return [...this.#given.values()].map(({ name }) => name.span.source.text);
  }

  /** The folder for a scope of this name, which some worker declares. */
  rootOf(name: string): Spanned<string> | undefined {
    this.#declared.add(name);
    return this.#given.get(name)?.root;
  }

  /** Reports names that no worker declares; to be called when all are linked. */
  reportUnused(): void {
    for (const { name } of this.#given.values()) {
      if (this.#declared.has(name.value)) continue;
      const names = [...this.#declared].sort();
      const all = names.length > 0 ? `the scopes: ${quoteNames(names)}` : "there is no scope";
      const message = `\`${clipText(name.value, 60)}\` is no scope of a worker that the entry reaches`;
      this.#report("override-target", { message, span: name.span, note: didYouMean(name.value, names) ?? all });
    }
  }
}
