import { type GitSetting, parseGitConfiguration } from "./git-configuration.ts";
import { readSmall } from "./git-repositories.ts";

const maxConfigurationBytes = 200_000;

/** Undefined for what is no configuration, or cannot be read. */
export function readSettings(file: string): readonly GitSetting[] | undefined {
  const text = readSmall(file, maxConfigurationBytes)?.toString();
  return text === undefined ? undefined : parseGitConfiguration(text);
}
