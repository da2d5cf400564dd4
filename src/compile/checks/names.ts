import type { DiagnosticNote } from "../../diagnostics/diagnostic.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { startOf } from "../flag.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";

/** A worker is named like its file, its file like a tool, and both as every system can keep them. */
export function checkNames(workers: ReadonlyMap<string, ResolvedWorker>, diagnostics: DiagnosticList): void {
  const others = new Map<string, ResolvedWorker>();
  for (const worker of workers.values()) {
    checkName(worker, diagnostics);
    checkPortable(worker, others, diagnostics);
  }
}

function checkName({ name, file }: ResolvedWorker, diagnostics: DiagnosticList): void {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
    const message = `\`${name}\` is no name for a worker, because models call it as a tool`;
    diagnostics.report("worker-name", { message, span: startOf(file.source) });
  }
  if (!file.name || file.name.value === name) return;
  const note = `write \`name: ${name}\`, or leave the key out`;
  const message = `the file is named \`${name}\`, and \`name\` says \`${file.name.value}\``;
  diagnostics.report("name-mismatch", { message, span: file.name.span, note });
}

/** Windows takes these for devices, whatever their suffix. */
const devices = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** `others`: the workers so far, by their ids in lower case. */
function checkPortable(worker: ResolvedWorker, others: Map<string, ResolvedWorker>, diagnostics: DiagnosticList): void {
  const { id, name, file } = worker;
  const report = (message: string, notes: readonly DiagnosticNote[] = []): void =>
    diagnostics.report("name-not-portable", { message, span: startOf(file.source), notes });
  if (id.split(/[/:]/).some((part) => devices.test(part))) report(`Windows has no files that are named like \`${name}\``);
  const other = others.get(id.toLowerCase());
  if (!other) others.set(id.toLowerCase(), worker);
  else
    report(`\`${id}\` differs from \`${other.id}\` in case alone`, [
      { message: "the other one is here", span: startOf(other.file.source) },
    ]);
}

/** Reports called workers without a description. */
export function checkDescriptions(workers: ReadonlyMap<string, ResolvedWorker>, diagnostics: DiagnosticList): void {
  for (const { references } of workers.values()) {
    for (const { syntax, target } of references) {
      const paths = target.kind === "worker" ? [target] : target.kind === "toolset" ? (target.delegates ?? []) : [];
      for (const called of paths.flatMap(({ path }) => workers.get(path) ?? [])) {
        if (called.file.description) continue;
        const message = `\`${called.name}\` is called, and has no \`description\``;
        const notes = [{ message: "it is called from here", span: syntax.reference.span }];
        const span = startOf(called.file.source);
        diagnostics.report("description-missing", { message, span, notes });
      }
    }
  }
}
