import { dirname } from "node:path";
import { loadUserConfig } from "../../compile/user-config.ts";
import { createNodeHost } from "../../host/node-host.ts";
import type { UserConfigFile } from "../../language/user-config.ts";
import { UsageError } from "../exit-codes.ts";

/** The user's configuration. Rejects with a `UsageError` that shows what is wrong with it. */
export async function readUserConfig(): Promise<UserConfigFile> {
  const { file, diagnostics } = await loadUserConfig(createNodeHost());
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return file;
  const { renderForTerminal } = await import("../../diagnostics/render-diagnostic.ts");
  throw new UsageError(`your configuration has mistakes:\n${await renderForTerminal(errors)}`);
}

/** Changes one value of the configuration and keeps all others, and its comments. `undefined` removes it. Returns the file's path. */
export async function changeUserConfig(path: readonly string[], value: string | undefined): Promise<string> {
  const { files, configFile } = createNodeHost();
  const { changeYaml } = await import("../../language/yaml/change-yaml.ts");
  await files.makeDirectory(dirname(configFile), 0o700);
  await files.alone(configFile, async () => {
    await readUserConfig();
    const { source } = await loadUserConfig({ files, configFile });
    await files.writeAtomically(configFile, changeYaml(source?.text ?? "", path, value), 0o600);
  });
  return configFile;
}

/** The user's names for models. */
export function aliasesOf({ aliases }: UserConfigFile): ReadonlyMap<string, string> {
  return new Map((aliases?.value ?? []).map(({ name, value }) => [name.value, value.value]));
}
