import { sha256 } from "./sha256.ts";

/** Returns a pseudo-random number from 0 (inclusive) to 1 (exclusive), the same for the same seed. */
export function seededFraction(seed: string): number {
  return Number.parseInt(sha256(seed).slice(0, 8), 16) / 2 ** 32;
}
