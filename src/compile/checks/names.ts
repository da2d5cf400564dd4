import { diagnose } from "../../diagnostics/diagnose.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { ResolvedWorker } from "../resolve-workers.ts";

/** A worker is named like its file, and its file like a tool. */
export function checkNames(workers: ReadonlyMap<string, ResolvedWorker>, diagnostics: DiagnosticList): void {
  for (const { name, file } of workers.values()) {
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
      const span = { source: file.source, start: 0, end: Math.min(3, file.source.text.length) };
      diagnostics.report(
        diagnose("worker-name", { message: `\`${name}\` is no name for a worker, because models call it as a tool`, span }),
      );
    }
    if (!file.name || file.name.value === name) continue;
    const notes = [{ message: `write \`name: ${name}\`, or leave the key out` }];
    const message = `the file is named \`${name}\`, and \`name\` says \`${file.name.value}\``;
    diagnostics.report(diagnose("name-mismatch", { message, span: file.name.span, notes }));
  }
}
