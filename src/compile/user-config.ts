import { basename, dirname, join } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Source } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { parseUserConfig, type UserConfigFile } from "../language/user-config.ts";
import { errorMessage } from "../util/text/error-message.ts";

export interface UserConfig {
  /** Undefined if there is none. */
  readonly source: Source | undefined;
  readonly file: UserConfigFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** In bytes. */
const mostOfConfig = 1_000_000;

/** A file that its author probably took for the configuration. Its limits would not hold. */
const lookAlike = /^(?:config|llm[-_.]?do)\.(?:ya?ml|json|toml)$/i;

/** Reads the user's configuration. Rejects if it is there and cannot be read. */
export async function loadUserConfig({ files, configFile }: Pick<Host, "files" | "configFile">): Promise<UserConfig> {
  const name = basename(configFile);
  const others = (await files.names(dirname(configFile)).catch(() => [])).filter((one) => one !== name && lookAlike.test(one));
  const misnamed = others.map((other) => {
    const source = { name: join(dirname(configFile), other), text: "" };
    const note = `rename it to \`${name}\``;
    return diagnose("manifest-name", { message: `\`${other}\` is not read`, span: { source, start: 0, end: 0 }, note });
  });
  if ((await files.kind(configFile)) === undefined) return { source: undefined, file: {}, diagnostics: misnamed };
  const text = await files.readText(configFile, { maxBytes: mostOfConfig }).catch((cause: unknown) => {
    throw new Error(`${configFile} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const source = { name: configFile, text };
  const { file, diagnostics } = parseUserConfig(source);
  return { source, file, diagnostics: [...misnamed, ...diagnostics] };
}
