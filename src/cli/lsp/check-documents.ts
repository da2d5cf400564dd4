import { resolve } from "node:path";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { positionAt } from "../../diagnostics/position.ts";
import type { Span } from "../../diagnostics/source.ts";
import { compile } from "../../front/llm-do.ts";
import type { Host } from "../../host/host.ts";
import type { Outline } from "../../protocol/outline.ts";
import { createOverlayHost } from "./overlay-host.ts";

export interface Checked {
  /** By the absolute path of their file. */
  readonly diagnostics: ReadonlyMap<string, readonly Diagnostic[]>;
  /** By the absolute path of the document that was compiled. Absent for one with errors. */
  readonly outlines: ReadonlyMap<string, Outline>;
}

export interface Checking {
  readonly host: Host;
  /** The program's folder. */
  readonly root: string;
  /** Texts of open documents, by absolute path. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Compiles the open workers of a program, and the program itself where its manifest is open, each as the entry. Nothing of the program
 * is run: also in a trusted folder, code that is being edited is not imported.
 */
export async function checkDocuments({ host, root, texts }: Checking): Promise<Checked> {
  const overlay = createOverlayHost(host, root, texts);
  const found = new Map<string, Map<string, Diagnostic>>();
  const outlines = new Map<string, Outline>();
  for (const path of texts.keys()) {
    if (!/(\.worker|[\\/]llm-do\.yaml)$/.test(path)) continue;
    const target = path.endsWith(".worker") ? path : root;
    const { diagnostics, outline } = await compile({ target, host: overlay, trust: false });
    if (outline) outlines.set(path, outline);
    for (const diagnostic of diagnostics) {
      const { code, message, span } = diagnostic;
      const file = span ? resolve(root, span.source.name) : path;
      const ofFile = found.get(file) ?? new Map<string, Diagnostic>();
      ofFile.set(JSON.stringify([code, message, span?.start, span?.end]), diagnostic);
      found.set(file, ofFile);
    }
  }
  return { diagnostics: new Map([...found].map(([path, all]) => [path, [...all.values()]])), outlines };
}

export interface Range {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

/** In the protocol's terms: lines and UTF-16 units from 0. */
export function toRange(span: Span | undefined): Range {
  const at = (offset: number) => {
    if (!span) return { line: 0, character: 0 };
    const { line, column } = positionAt(span.source, offset);
    return { line: line - 1, character: column - 1 };
  };
  return { start: at(span?.start ?? 0), end: at(span?.end ?? 0) };
}
