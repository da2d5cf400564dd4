import { join } from "node:path";
import type { ResolvedPath, Scopes } from "../../../host/scopes.ts";
import type { ShellPlan } from "../parse/plan.ts";
import { findGitUse } from "./git-commands.ts";
import { judgeRemotes } from "./git-remotes.ts";
import { asks, type Reason } from "./reasons.ts";
import { lookAtRepository } from "./repository-look.ts";

/**
 * Why git cannot just run here: what lies in its repository, or in one that it can enter from there, names programs that it would
 * start even where it only looks. Starts nothing. `isWalled`: commands see nothing outside of the scopes.
 */
export async function lookUpRepositories(
  scopes: Scopes,
  base: ResolvedPath,
  { plan, isWalled }: { readonly plan: ShellPlan; readonly isWalled: boolean },
): Promise<readonly Reason[]> {
  const use = findGitUse(plan);
  if (use === undefined) return [];
  const words = use.transports.flatMap(({ named }) => named);
  const options = { isWalled, everywhere: use.changes, remotes: use.transports.length > 0 ? words : undefined };
  const folders = use.folders.map((folder) => join(base.scope.root, ...folder));
  const looks = await Promise.all(folders.map((folder) => lookAtRepository(scopes, folder, options)));
  const found = looks.flatMap(({ why, basis, configs, there }): (Reason | undefined)[] => {
    // What is not there yet could be put there by another command of the line.
    const couldBePath = (word: string) => word.includes("/") || there.has(word) || plan.commands.length > 1;
    if (why !== undefined) return [{ ...asks(`git: ${why}`), ...(basis === undefined ? {} : { basis }) }];
    const remotes = use.transports.map((transport) => judgeRemotes(transport, { configs, couldBePath }));
    return remotes.map((remote) => (remote === undefined ? undefined : asks(`git: ${remote}`)));
  });
  const { copier } = use;
  if (copier !== undefined)
    found.push(asks(`git: \`${copier}\` could bring a repository along, which nobody looked at; run them apart`));
  return [...new Map(found.flatMap((reason) => (reason ? [[`${reason.why} ${reason.basis}`, reason]] : []))).values()];
}
