import { seededFraction } from "../../src/util/seeded-fraction.ts";

/** Seed of the random choices in tests that race with other processes. `LLM_DO_SEED` sets another one. */
export const seed = process.env["LLM_DO_SEED"] ?? "1";

/** For the message of a failure. */
export const withSeed = `with LLM_DO_SEED=${seed}`;

/** Numbers from 0 to 1, the same in every run with one seed. */
export function createRandom(name: string): () => number {
  let count = 0;
  return () => seededFraction(`${seed}/${name}/${count++}`);
}
