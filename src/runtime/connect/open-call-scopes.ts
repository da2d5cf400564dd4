import type { Scopes } from "../../host/scopes/scopes.ts";
import type { CodeEntry, Worker } from "../../program/program.ts";
import type { CallPath } from "../../protocol/call.ts";
import { toToolFailure } from "../../toolsets/results/scope-failure.ts";
import { ToolFailure } from "../../toolsets/toolset.ts";
import type { RuntimeConfig } from "../config.ts";

/** A worker, or the code of an entry. */
type ScopeUser = Pick<Worker, "scopes" | "toolsets"> | Pick<CodeEntry, "scopes">;

/**
 * Opens the scopes of a call, which closes them: at once for a caller that uses files, else at their first use. A refusal of an opening
 * at once is recorded, and repeated by a replayed run; a later one is the failure of the tool that uses a file.
 */
export async function openCallScopes(run: RuntimeConfig, user: ScopeUser, callPath: CallPath): Promise<Scopes> {
  const key = { callPath, key: "scopes" };
  const recorded = run.effects.recall("refusal", key);
  try {
    if (recorded) throw new ToolFailure(recorded.error);
    return await run.openScopes(user.scopes, { callPath, atFirstUse: !usesFiles(user) });
  } catch (caught) {
    const thrown = toToolFailure(caught);
    if (thrown instanceof ToolFailure) run.effects.record({ type: "refusal", ...key, tool: "", error: thrown.toolError });
    throw thrown;
  }
}

/** Returns true for code, and for a worker with tools for files or commands. Other tools may use files, and most do not. */
export function usesFiles(user: ScopeUser): boolean {
  if (!("toolsets" in user)) return true;
  return user.toolsets.some(({ toolset: { requires } }) => requires?.some((one) => one === "scopes" || one === "commands"));
}
