import { ScopeError } from "../../host/scopes/scopes.ts";
import { ToolFailure } from "../toolset.ts";

/** A refusal in terms of scopes as the model gets it; anything else as it is. */
export function toToolFailure(thrown: unknown): unknown {
  if (!(thrown instanceof ScopeError)) return thrown;
  const { type, message, hint, details } = thrown;
  const more = Object.keys(details).length > 0 ? { details } : {};
  return new ToolFailure({ error: message, type, ...(hint === undefined ? {} : { hint }), ...more }, { cause: thrown });
}

/** Rejects as the model gets it. */
export async function failing<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toToolFailure(error);
  }
}
