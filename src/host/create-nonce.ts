import { randomBytes } from "node:crypto";

/** Returns bytes that nobody can guess and that do not repeat. */
export function createNonce(length: number): Buffer {
  return randomBytes(length);
}
