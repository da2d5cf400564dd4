import { sha256 } from "../util/sha256.ts";

const longest = 64;

/** The name that a model calls a tool by: with its prefix, and, where providers would refuse the length, cut with a hash. */
export function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix ? `${prefix}_${name}` : name;
  return whole.length <= longest ? whole : `${whole.slice(0, longest - 9)}_${sha256(whole).slice(0, 8)}`;
}
