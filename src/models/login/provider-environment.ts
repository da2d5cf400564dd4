import type { Host } from "../../host/host.ts";
import { ModelError } from "../model.ts";
import type { ProviderEnvironment } from "../provider.ts";
import type { KeyForVariable } from "./stored-keys.ts";

export interface ProviderAccess {
  /** Returns whether a script may run: those of a trusted program, and the user's own. */
  readonly mayImport: (path: string) => boolean;
  readonly keys: readonly KeyForVariable[];
}

/** Creates the part of the host that adapters get. */
export function createProviderEnvironment(host: Host, { mayImport, keys }: ProviderAccess): ProviderEnvironment {
  const stored = new Map(keys.filter(({ isUsed }) => isUsed).map((key) => [key.name, key]));
  const { environment } = host;
  return {
    variable: (name) => environment[name] || stored.get(name)?.value,
    sourceOf: (name) => (environment[name] ? name : stored.has(name) ? `llm-do keys (${stored.get(name)?.provider})` : name),
    fetch: host.fetch,
    readText: (path) => host.files.readText(path),
    importScript: async (path) => {
      if (mayImport(path)) return host.importModule(path);
      throw new ModelError({
        code: "auth",
        model: `scripted:${path}`,
        message: `the script ${path} is code of a program that is not trusted; trust the program, or name the script with --model`,
      });
    },
  };
}

/** Scripts that the user named, and not the program: they need no trust in it. */
export function scriptsOfTheUser(
  models: readonly { readonly id: string; readonly namedBy: "program" | "user" }[],
): ReadonlySet<string> {
  const named = models.flatMap(({ id, namedBy }) => (namedBy === "user" ? [id] : []));
  return new Set(named.filter((id) => id.startsWith("scripted:")).map((id) => id.slice("scripted:".length)));
}
