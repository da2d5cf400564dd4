import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { parseUserConfig, type UserConfigFile } from "../language/user-config.ts";
import { errorMessage } from "../util/error-message.ts";

export interface UserConfig {
  /** Undefined if there is none. */
  readonly source: Source | undefined;
  readonly file: UserConfigFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** In bytes. */
const mostOfConfig = 1_000_000;

/** Reads the user's configuration. Rejects if it is there and cannot be read. */
export async function loadUserConfig({ files, configFile }: Pick<Host, "files" | "configFile">): Promise<UserConfig> {
  if ((await files.kind(configFile)) === undefined) return { source: undefined, file: {}, diagnostics: [] };
  const text = await files.readText(configFile, { maxBytes: mostOfConfig }).catch((cause: unknown) => {
    throw new Error(`${configFile} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const source = { name: configFile, text };
  return { source, ...parseUserConfig(source) };
}
