import { isWithoutEffect } from "../diagnostics/catalogue.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { positionAt } from "../diagnostics/position.ts";
import { isFlag } from "./flag.ts";

/** Returns true for warnings that a run has to report: about its options, and about what its program's files say without effect. */
export function concernsRun(diagnostic: Diagnostic): boolean {
  const { severity, span } = diagnostic;
  return severity === "warning" && span !== undefined && (isFlag(span) || isWithoutEffect(diagnostic));
}

/** One line for each warning that a run has to report. */
export function warningsOfRun(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.filter(concernsRun).map(({ message, notes, span }) => {
    const place = span && !isFlag(span) ? `${span.source.name}:${positionAt(span.source, span.start).line}: ` : "";
    return `${place}${[message, ...notes.map((note) => note.message)].join("; ")}`;
  });
}
