import type { Host } from "../host/host.ts";
import { ModelError } from "./model.ts";
import type { ProviderEnvironment } from "./provider.ts";

/**
 * Creates the part of the host that adapters get. `mayImport` returns whether a script may run: those of a trusted program, and
 * the user's own.
 */
export function createProviderEnvironment(host: Host, mayImport: (path: string) => boolean): ProviderEnvironment {
  return {
    variable: (name) => host.environment[name] || undefined,
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
