import type { ScopeDeclaration, Scopes } from "../host/scopes/scopes.ts";

/**
 * Identity of the folder that a scope stands for, as a fact of calls that write in it: an approval holds for this folder, and not for
 * another one that takes its place. It is the inode alone: a shared folder has another device on each machine.
 */
export async function folderIdentity(scopes: Scopes, { name }: ScopeDeclaration): Promise<string> {
  const { identity } = await scopes.facts(`${name}:`);
  return identity.slice(identity.indexOf(":") + 1);
}
