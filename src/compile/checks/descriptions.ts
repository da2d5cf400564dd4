import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { startOf } from "../flag.ts";
import type { ResolvedWorker } from "../resolve-workers.ts";

/** Who is called by a worker should say what it does. */
export function checkDescriptions(workers: ReadonlyMap<string, ResolvedWorker>, diagnostics: DiagnosticList): void {
  for (const { references } of workers.values()) {
    for (const { syntax, target } of references) {
      const called = target.kind === "worker" ? workers.get(target.path) : undefined;
      if (!called || called.file.description) continue;
      const message = `\`${called.name}\` is called, and has no \`description\``;
      const notes = [{ message: "it is called from here", span: syntax.reference.span }];
      const span = startOf(called.file.source);
      diagnostics.report("description-missing", { message, span, notes });
    }
  }
}
