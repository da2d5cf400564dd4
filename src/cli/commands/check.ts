import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../../diagnostics/render-diagnostic.ts";
import { renderGithubAnnotations } from "../../diagnostics/render-github-annotations.ts";
import { toJsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import { toSarif } from "../../diagnostics/to-sarif.ts";
import { version } from "../../version.ts";
import { type CompileFlags, compileTrusted } from "../compile-trusted.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";

/** What `--format` takes. All but `text` are for machines, and go to stdout. */
export type CheckFormat = "text" | "json" | "sarif" | "github";

export interface CheckFlags extends CompileFlags {
  readonly format: CheckFormat;
}

/** `llm-do check [TARGET]`: everything that is wrong, and nothing else. Runs none of the program unless it is trusted. */
export async function checkCommand(targets: readonly string[], flags: CheckFlags): Promise<number> {
  const { diagnostics, untrusted, codeFiles } = await compileTrusted(targets, flags);
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  if (flags.format !== "text") await writeResult(forMachines[flags.format](diagnostics));
  else if (diagnostics.length > 0) writeStderr(`${renderDiagnostics(diagnostics)}\n\n`);
  const others = diagnostics.length - errors;
  writeStderr(
    `llm-do: ${targets.join(", ") || "."}: ${count(errors, "error")}, ${count(others, "warning or hint", "warnings and hints")}\n`,
  );
  if (untrusted && codeFiles.length > 0)
    writeStderr("llm-do: its code was read and not run, because its folder is not trusted; --trust checks it too\n");
  return errors > 0 ? exitCodes.usage : exitCodes.done;
}

const forMachines: Readonly<Record<Exclude<CheckFormat, "text">, (diagnostics: readonly Diagnostic[]) => string>> = {
  json: (diagnostics) => renderJson(diagnostics.map(toJsonDiagnostic)),
  sarif: (diagnostics) => renderJson(toSarif(diagnostics, version)),
  github: renderGithubAnnotations,
};

function renderJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number === 0 ? "no" : number} ${number === 1 ? one : many}`;
}
