import type { Diagnostic, Severity } from "./diagnostic.ts";
import { fileOf, fullMessage } from "./exchange.ts";
import { toJsonDiagnostic } from "./to-json-diagnostic.ts";

const commands: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", hint: "notice" };

/** A workflow command of GitHub Actions for each diagnostic, a line each: `::error file=a.worker,line=3,col=1,title=code::message`. */
export function renderGithubAnnotations(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => `${renderAnnotation(diagnostic)}\n`).join("");
}

function renderAnnotation(diagnostic: Diagnostic): string {
  const json = toJsonDiagnostic(diagnostic);
  const file = fileOf(json);
  const { line, column, endLine, endColumn } = json;
  // GitHub takes columns only where both are on one line, and its end is the last column, not the one after it.
  const end = line === endLine && endColumn !== undefined && column !== undefined ? Math.max(column, endColumn - 1) : undefined;
  const place = file === undefined ? [] : [["file", file], ["line", line], ["col", column], ["endLine", endLine], ["endColumn", end]]; // biome-ignore format: pairs
  const properties = [...place, ["title", json.code]].flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`],
  );
  return `::${commands[json.severity]} ${properties.join(",")}::${escapeData(fullMessage(json))}`;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
