import type { ScopeDeclaration, Scopes } from "../host/scopes.ts";
import type { CallPath } from "../protocol/call.ts";
import { toToolFailure } from "../toolsets/scope-failure.ts";
import { ToolFailure } from "../toolsets/toolset.ts";
import type { RuntimeConfig } from "./config.ts";

/** Opens the scopes of a call, which closes them. A refusal is recorded, and repeated by a replayed run. */
export async function openCallScopes(
  run: RuntimeConfig,
  declarations: readonly ScopeDeclaration[],
  callPath: CallPath,
): Promise<Scopes> {
  const key = { callPath, key: "scopes" };
  const recorded = run.effects.recall("refusal", key);
  try {
    if (recorded) throw new ToolFailure(recorded.error);
    return await run.openScopes(declarations, callPath);
  } catch (caught) {
    const thrown = toToolFailure(caught);
    if (thrown instanceof ToolFailure) run.effects.record({ type: "refusal", ...key, tool: "", error: thrown.toolError });
    throw thrown;
  }
}
