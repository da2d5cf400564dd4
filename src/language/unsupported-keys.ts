import type { Span, Spanned } from "../diagnostics/source.ts";
import { isRecord } from "../protocol/json.ts";

/** Why a list of hosts is refused, wherever it is written. */
export const hostsUnsupported =
  "a list of hosts cannot be enforced yet; write `true` for the whole network, or leave the key out for none";

/**
 * Keys that are read but that no run honours yet, each with a sentence for the author: whoever compiles a worker refuses
 * them, so that nothing that is written down is silently ignored.
 */
export const unsupportedKeys: Readonly<Record<string, string>> = {
  auth: "there are no logins yet, and models are reached by key; write `off`",
  "sandbox.network_enabled": hostsUnsupported,
};

export interface UnsupportedKey {
  readonly path: string;
  readonly sentence: string;
  /** The place of the value. */
  readonly span: Span;
}

/** Those of some keys that a file writes. */
export function findUnsupportedKeys(file: object, keys: Readonly<Record<string, string>> = unsupportedKeys): UnsupportedKey[] {
  return Object.entries(keys).flatMap(([path, sentence]) => {
    const written = findWritten(file, path.split("."));
    return written && !isHonoured(path, written.value) ? [{ path, sentence, span: written.span }] : [];
  });
}

/** What is done anyway may be written down. */
function isHonoured(path: string, value: unknown): boolean {
  return (path === "auth" && value === "off") || (path === "sandbox.network_enabled" && !Array.isArray(value));
}

function findWritten(keys: object, [key = "", ...rest]: readonly string[]): Spanned<unknown> | undefined {
  const written = (keys as Record<string, Spanned<unknown> | undefined>)[key];
  if (rest.length === 0 || written === undefined) return written;
  return isRecord(written.value) ? findWritten(written.value, rest) : undefined;
}
