import type { Span } from "../diagnostics/source.ts";
import { isRecord } from "../protocol/json.ts";
import type { WorkerFile } from "./worker-file.ts";

/** Why a list of hosts is refused, wherever it is written. */
export const hostsUnsupported =
  "a list of hosts cannot be enforced yet; write `true` for the whole network, or leave the key out for none";

/**
 * Keys that are read but that no run honours yet, each with a sentence for the author: whoever compiles a worker refuses
 * them, so that nothing that is written down is silently ignored. `[]`: only where the value is a list.
 */
export const unsupportedKeys: Readonly<Record<string, string>> = {
  server_side_tools: "tools of the provider cannot be enabled yet",
  auth: "logins are not used yet; models are reached by key",
  debug: "debugging cannot be set in a file yet",
  "sandbox.network_enabled[]": hostsUnsupported,
  "limits.usd": "dollars are not counted yet; `limits.tokens` is",
};

export interface UnsupportedKey {
  readonly path: string;
  readonly sentence: string;
  /** The place of the value. */
  readonly span: Span;
}

/** Those of them that a file writes. */
export function findUnsupportedKeys(file: WorkerFile): UnsupportedKey[] {
  return findWrittenKeys(unsupportedKeys, file);
}

/** The keys of a table of sentences that a file writes. */
export function findWrittenKeys(table: Readonly<Record<string, string>>, file: object): UnsupportedKey[] {
  return Object.entries(table).flatMap(([key, sentence]) => {
    const path = key.replace("[]", "");
    const written = writtenAt(file, path.split("."));
    return written && (path === key || Array.isArray(written.value)) ? [{ path, sentence, span: written.span }] : [];
  });
}

interface Written {
  readonly value: unknown;
  readonly span: Span;
}

function writtenAt(keys: object, [key = "", ...rest]: readonly string[]): Written | undefined {
  const written = (keys as Record<string, Written | undefined>)[key];
  if (rest.length === 0 || written === undefined) return written;
  return isRecord(written.value) ? writtenAt(written.value, rest) : undefined;
}
