import type { JsonObject } from "../../protocol/json.ts";
import { configSchema } from "../config-schema.ts";
import { among, atMost, narrowKeys } from "../narrow-lists.ts";
import type { Narrowed } from "../toolset.ts";

export interface FilesystemConfig {
  /** Names of the scopes that this instance sees. Default: all of its worker. */
  readonly scopes?: readonly string[];
  /** The most characters that one read returns. */
  readonly max_chars: number;
  /** The most files or lines that one list or search returns. */
  readonly max_entries: number;
  /** The most seconds that one search takes. */
  readonly max_search_seconds: number;
}

const defaults = { max_chars: 20_000, max_entries: 1000, max_search_seconds: 10 };

export const filesystemConfig = configSchema<FilesystemConfig>({
  scopes: {
    type: "array",
    items: { type: "string" },
    description: "Names of the scopes that these tools see. Default: all scopes of the worker.",
  },
  max_chars: {
    type: "integer",
    minimum: 1,
    default: defaults.max_chars,
    description: "The most characters that one read_file returns.",
  },
  max_entries: {
    type: "integer",
    minimum: 1,
    default: defaults.max_entries,
    description: "The most files or lines that one list or search returns.",
  },
  max_search_seconds: {
    type: "integer",
    minimum: 1,
    default: defaults.max_search_seconds,
    description: "The most seconds that one search_files takes. It fails beyond.",
  },
});

/** An instance that sees no other scopes, and returns no more at once. */
export function narrowFilesystem(own: JsonObject, wish: JsonObject, scopes: readonly string[]): Narrowed {
  const narrowed = narrowKeys(own, wish, {
    scopes: among("none"),
    max_chars: atMost(defaults.max_chars),
    max_entries: atMost(defaults.max_entries),
    max_search_seconds: atMost(defaults.max_search_seconds),
  });
  const seen = own["scopes"];
  if (!narrowed.ok || wish["scopes"] !== undefined || !Array.isArray(seen)) return narrowed;
  return { ok: true, config: { ...narrowed.config, scopes: seen.filter((name) => scopes.includes(String(name))) } };
}
