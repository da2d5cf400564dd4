import type { Span } from "../diagnostics/source.ts";
import { isRecord } from "../protocol/json.ts";
import type { WorkerFile } from "./worker-file.ts";

/**
 * Keys that are read but that no run honours yet, each with a sentence for the author: whoever compiles a worker refuses
 * them, so that nothing that is written down is silently ignored.
 */
export const unsupportedKeys: Readonly<Record<string, string>> = {
  auth: "logins are not used yet; models are reached by key",
  debug: "debugging cannot be set in a file yet",
  "sandbox.network_enabled": "commands have no network of their own yet",
  "sandbox.required": "commands cannot be required to be isolated yet",
};

export interface UnsupportedKey {
  readonly path: string;
  readonly sentence: string;
  /** The place of the value. */
  readonly span: Span;
}

/** Those of them that a file writes. */
export function findUnsupportedKeys(file: WorkerFile): UnsupportedKey[] {
  return Object.entries(unsupportedKeys).flatMap(([path, sentence]) => {
    const span = spanAt(file, path.split("."));
    return span ? [{ path, sentence, span }] : [];
  });
}

function spanAt(keys: object, [key = "", ...rest]: readonly string[]): Span | undefined {
  const written = (keys as Record<string, { value: unknown; span: Span } | undefined>)[key];
  if (rest.length === 0 || written === undefined) return written?.span;
  return isRecord(written.value) ? spanAt(written.value, rest) : undefined;
}
