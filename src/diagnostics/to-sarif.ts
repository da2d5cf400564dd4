import { isAbsolute } from "node:path";
import { catalogue } from "./catalogue.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import type { Diagnostic, Severity } from "./diagnostic.ts";
import { fileOf, fullMessage } from "./exchange.ts";
import { type JsonDiagnostic, type JsonPlace, toJsonDiagnostic } from "./to-json-diagnostic.ts";

const levels: Readonly<Record<Severity, "error" | "warning" | "note">> = { error: "error", warning: "warning", hint: "note" };

/**
 * A log of SARIF 2.1.0, as code scanning services and editors read it: the diagnostics of one check, with a rule for each code
 * among them. Files are relative to the working directory.
 */
export function toSarif(diagnostics: readonly Diagnostic[], version: string) {
  const entries: Readonly<Record<string, CatalogueEntry>> = catalogue;
  const codes = [...new Set(diagnostics.map(({ code }) => code))].filter((code) => Object.hasOwn(entries, code)).sort();
  const rules = codes.flatMap((code) => (entries[code] ? [toRule(code, entries[code])] : []));
  const results = diagnostics.map((diagnostic) => toResult(toJsonDiagnostic(diagnostic), codes));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "llm-do", version, rules } }, columnKind: "utf16CodeUnits", results }],
  } as const;
}

function toRule(code: string, { severity, title, explanation }: CatalogueEntry) {
  return {
    id: code,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: explanation },
    help: { text: `${explanation}\n\nIn llm-do's documentation: docs/diagnostics.md#${code}` },
    defaultConfiguration: { level: levels[severity] },
  };
}

function toResult(json: JsonDiagnostic, codes: readonly string[]) {
  const location = toLocation(json);
  const related = json.notes.flatMap((note, index) => {
    const place = toLocation(note);
    return place ? [{ id: index + 1, message: { text: note.message }, ...place }] : [];
  });
  return {
    ruleId: json.code,
    ...(codes.includes(json.code) ? { ruleIndex: codes.indexOf(json.code) } : {}),
    level: levels[json.severity],
    message: { text: fullMessage(json) },
    ...(location ? { locations: [location] } : {}),
    ...(related.length > 0 ? { relatedLocations: related } : {}),
  };
}

function toLocation(place: JsonPlace) {
  const file = fileOf(place);
  const { line, column, endLine, endColumn } = place;
  if (file === undefined || line === undefined || column === undefined) return undefined;
  const region = { startLine: line, startColumn: column, endLine: endLine ?? line, endColumn: endColumn ?? column };
  return { physicalLocation: { artifactLocation: { uri: toUri(file) }, region } };
}

/** Percent-encodes characters that a URI may not have, and `:`: a first segment with one would be a scheme. */
function toUri(file: string): string {
  const encoded = file.toWellFormed().split("/").map(encodeURIComponent).join("/");
  if (!isAbsolute(file)) return encoded;
  return encoded.startsWith("/") ? `file://${encoded}` : `file:///${encoded.replace("%3A", ":")}`;
}
