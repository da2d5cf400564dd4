import type { LimitsSyntax } from "../language/worker-file.ts";
import type { Limits } from "../protocol/usage.ts";

export function linkLimits(syntax: LimitsSyntax | undefined): Limits {
  const entries = Object.entries(syntax ?? {}).map(([name, limit]: [string, { readonly value: number }]) => [name, limit.value]);
  return Object.fromEntries(entries) as Limits;
}
