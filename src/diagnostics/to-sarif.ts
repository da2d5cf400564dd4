import { isAbsolute } from "node:path";
import { catalogue } from "./catalogue.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import type { Diagnostic, Severity } from "./diagnostic.ts";
import { fileOf, fullMessage } from "./exchange.ts";
import { type JsonDiagnostic, type JsonPlace, toJsonDiagnostic } from "./to-json-diagnostic.ts";

type SarifLevel = "error" | "warning" | "note";

/** A log of SARIF 2.1.0, as code scanning services and editors read it. */
export interface SarifLog {
  readonly $schema: string;
  readonly version: "2.1.0";
  readonly runs: readonly [SarifRun];
}

export interface SarifRun {
  readonly tool: { readonly driver: { readonly name: string; readonly version: string; readonly rules: readonly SarifRule[] } };
  readonly columnKind: "utf16CodeUnits";
  readonly results: readonly SarifResult[];
}

/** What the catalogue says of a code. */
export interface SarifRule {
  readonly id: string;
  readonly shortDescription: SarifText;
  readonly fullDescription: SarifText;
  readonly help: SarifText;
  readonly defaultConfiguration: { readonly level: SarifLevel };
}

export interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex?: number;
  readonly level: SarifLevel;
  readonly message: SarifText;
  readonly locations?: readonly SarifLocation[];
  readonly relatedLocations?: readonly SarifLocation[];
}

export interface SarifText {
  readonly text: string;
}

export interface SarifLocation {
  readonly id?: number;
  readonly message?: SarifText;
  readonly physicalLocation: { readonly artifactLocation: { readonly uri: string }; readonly region: SarifRegion };
}

export interface SarifRegion {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

const levels: Readonly<Record<Severity, SarifLevel>> = { error: "error", warning: "warning", hint: "note" };

/** The diagnostics of one check, with a rule for each code among them. Places are relative to the working directory. */
export function toSarif(diagnostics: readonly Diagnostic[], version: string): SarifLog {
  const entries: Readonly<Record<string, CatalogueEntry>> = catalogue;
  const codes = [...new Set(diagnostics.map(({ code }) => code))].filter((code) => Object.hasOwn(entries, code)).sort();
  const rules = codes.flatMap((code) => (entries[code] ? [toRule(code, entries[code])] : []));
  const results = diagnostics.map((diagnostic) => toResult(toJsonDiagnostic(diagnostic), codes));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "llm-do", version, rules } }, columnKind: "utf16CodeUnits", results }],
  };
}

function toRule(code: string, { severity, title, explanation }: CatalogueEntry): SarifRule {
  return {
    id: code,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: explanation },
    help: { text: `${explanation}\n\nIn llm-do's documentation: docs/diagnostics.md#${code}` },
    defaultConfiguration: { level: levels[severity] },
  };
}

function toResult(json: JsonDiagnostic, codes: readonly string[]): SarifResult {
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

function toLocation(place: JsonPlace): SarifLocation | undefined {
  const file = fileOf(place);
  const { line, column, endLine, endColumn } = place;
  if (file === undefined || line === undefined || column === undefined) return undefined;
  const region = { startLine: line, startColumn: column, endLine: endLine ?? line, endColumn: endColumn ?? column };
  return { physicalLocation: { artifactLocation: { uri: toUri(file) }, region } };
}

/** What a path may have and a URI may not is percent-encoded, a `:` too: a first segment with one would be a scheme. */
function toUri(file: string): string {
  const encoded = file.toWellFormed().split("/").map(encodeURIComponent).join("/");
  if (!isAbsolute(file)) return encoded;
  return encoded.startsWith("/") ? `file://${encoded}` : `file:///${encoded.replace("%3A", ":")}`;
}
