import { resolve } from "node:path";
import { createNodeHost } from "./host/node-host.ts";
import type { ScopeDeclaration, Scopes } from "./host/scopes/scopes.ts";

// The public names of `llm-do/scopes`: named folders that paths cannot leave, without the rest.
export {
  type FileFacts,
  type InspectedPath,
  type ListedFiles,
  type ListOptions,
  type Protection,
  type ReadFile,
  type ResolvedPath,
  type ScopeDeclaration,
  ScopeError,
  type Scopes,
} from "./host/scopes/scopes.ts";

/**
 * Opens folders on this machine, each under its name; roots are relative to the working directory, and a missing one that
 * can be written is made. Rejects with a `ScopeError`. Whoever opens them closes them.
 */
export async function openScopes(declarations: readonly ScopeDeclaration[]): Promise<Scopes> {
  return createNodeHost().openScopes(declarations.map((one) => ({ ...one, root: resolve(one.root) })));
}
