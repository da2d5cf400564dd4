import { diagnose, type Report } from "./diagnose.ts";
import type { Diagnostic } from "./diagnostic.ts";

const cap = 100;

/** Collects diagnostics, each once. Keeps the first hundred, errors before the rest, and counts the others. */
export class DiagnosticList {
  readonly #errors: Diagnostic[] = [];
  readonly #others: Diagnostic[] = [];
  readonly #seen = new Set<string>();
  #total = 0;

  /** A function of its own, so that it can be passed on. Never throws. */
  readonly report: Report = (code, details) => this.add(diagnose(code, details));

  add(diagnostic: Diagnostic): undefined {
    const list = diagnostic.severity === "error" ? this.#errors : this.#others;
    if (list.length >= cap) {
      this.#total++;
      return undefined;
    }
    const { code, message, span } = diagnostic;
    const key = JSON.stringify([code, message, span?.source.name, span?.start, span?.end]);
    if (this.#seen.has(key)) return undefined;
    this.#seen.add(key);
    this.#total++;
    list.push(diagnostic);
    return undefined;
  }

  addAll(diagnostics: Iterable<Diagnostic>): void {
    for (const diagnostic of diagnostics) this.add(diagnostic);
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** Sorted by source and place; those without a place come first. A last one counts those left out. */
  toArray(): Diagnostic[] {
    const kept = [...this.#errors, ...this.#others].slice(0, cap).sort(byPlace);
    const omitted = this.#total - kept.length;
    if (omitted <= 0) return kept;
    const message = omitted === 1 ? "one more mistake is not shown" : `${omitted} more mistakes are not shown`;
    return [...kept, diagnose("too-many-diagnostics", { message })];
  }
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.span === undefined || b.span === undefined) return Number(a.span !== undefined) - Number(b.span !== undefined);
  const [nameA, nameB] = [a.span.source.name, b.span.source.name];
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  return a.span.start - b.span.start || a.span.end - b.span.end;
}
