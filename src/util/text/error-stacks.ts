import { errorMessage } from "./error-message.ts";

/** Returns the stack of an error and those of its causes; empty for other values. */
export function errorStacks(thrown: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  for (let error = thrown; error !== undefined && !seen.has(error); error = error instanceof Error ? error.cause : undefined) {
    seen.add(error);
    if (error instanceof Error) parts.push(error.stack ?? errorMessage(error));
    else if (parts.length > 0) parts.push(String(errorMessage(error)));
  }
  return parts.join("\ncaused by:\n");
}
