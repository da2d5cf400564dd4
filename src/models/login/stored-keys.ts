import type { Host } from "../../host/host.ts";
import type { StoredKey } from "../../host/own-files/key-file.ts";
import type { Provider } from "../provider.ts";

/** A stored key in the place of a variable of the environment. */
export interface KeyForVariable {
  readonly provider: string;
  /** The first of the provider's variables: the key goes wherever the value of that one would, and nowhere else. */
  readonly name: string;
  readonly value: string;
  /** False if the environment has a key for the provider, which is used then. */
  readonly isUsed: boolean;
}

/** Returns the stored keys of built-in providers. */
export function keysForVariables(
  stored: Readonly<Record<string, StoredKey>>,
  providers: readonly Provider[],
  environment: Host["environment"],
): readonly KeyForVariable[] {
  if (Object.keys(stored).length === 0) return [];
  return providers.flatMap((provider) => {
    const [name] = provider.keyVariables;
    const entry = Object.hasOwn(stored, provider.name) ? stored[provider.name] : undefined;
    if (name === undefined || !entry) return [];
    return [{ provider: provider.name, name, value: entry.key, isUsed: findKeyVariable(provider, environment) === undefined }];
  });
}

/** Returns the variable of the environment that holds the provider's key, or stands in for it. */
export function findKeyVariable(
  { keyVariables, insteadOfKey = [] }: Pick<Provider, "keyVariables" | "insteadOfKey">,
  environment: Host["environment"],
): string | undefined {
  return [...keyVariables, ...insteadOfKey].find((name) => environment[name]?.trim());
}
