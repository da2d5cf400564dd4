import { scopeTable } from "./open-scopes.ts";
import { removeFile } from "./scope-files.ts";
import type { Scopes } from "./scopes.ts";

/** Removes a file through scopes. `expect`: its identity; another file stays. No tool has this. */
export async function removeScopeFile(scopes: Scopes, virtualPath: string, expect: string): Promise<void> {
  await removeFile(await scopeTable(scopes), scopes.resolve(virtualPath), expect);
}
