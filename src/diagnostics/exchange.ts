import { sep } from "node:path";
import { escapeText } from "../util/text/escape-text.ts";
import type { JsonDiagnostic, JsonPlace } from "./to-json-diagnostic.ts";

/** The file that a diagnostic points into, with `/` between folders. Undefined if it points nowhere, or into a flag. */
export function fileOf({ file }: JsonPlace): string | undefined {
  if (file === undefined || isFlagName(file)) return undefined;
  return sep === "/" ? file : file.replaceAll(sep, "/");
}

/** The message, the flag that it is about, and the notes below one another: for formats whose notes are not shown. */
export function fullMessage({ message, file, notes }: JsonDiagnostic): string {
  const first =
    file !== undefined && isFlagName(file) ? `${message} (in ${escapeText(file, { keepBackslashes: true })})` : message;
  return [first, ...notes.map(renderNote)].join("\n");
}

function renderNote({ message, file, line }: JsonDiagnostic["notes"][number]): string {
  return file === undefined ? `note: ${message}` : `note: ${message} (${escapeText(file, { keepBackslashes: true })}:${line})`;
}

/** Flags and environment variables are sources too: `--set main.model=x`, `LLM_DO_MODEL`. */
function isFlagName(name: string): boolean {
  return name.startsWith("--") || /^[A-Z][A-Z0-9_]*$/.test(name);
}
