import { configSchema } from "../config-schema.ts";

export interface FilesystemConfig {
  /** Names of the scopes that this instance sees. Default: all of its worker. */
  readonly scopes?: readonly string[];
  /** The most characters that one read returns. */
  readonly max_chars: number;
  /** The most files or lines that one list or search returns. */
  readonly max_entries: number;
}

export const filesystemConfig = configSchema<FilesystemConfig>({
  scopes: {
    type: "array",
    items: { type: "string" },
    description: "Names of the scopes that these tools see. Default: all scopes of the worker.",
  },
  max_chars: { type: "integer", minimum: 1, default: 20_000, description: "The most characters that one read_file returns." },
  max_entries: {
    type: "integer",
    minimum: 1,
    default: 1000,
    description: "The most files or lines that one list or search returns.",
  },
});
