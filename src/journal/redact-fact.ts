import type { Fact } from "../protocol/fact.ts";
import type { Redactor } from "../util/redactor.ts";

/** Fields that identify a fact, or are digests: hiding a part of one would make it another. */
const identifying = ["type", "callPath", "key", "kind", "digest", "memory", "tool", "name", "runId", "programDigest", "sha256"];

/** A fact without secrets. Content fields are redacted; what identifies the fact stays as it is. */
export function redactFact(fact: Fact, redactor: Redactor): Fact {
  const redacted = redactor.json(fact);
  if (redacted === fact) return fact;
  const kept = Object.entries(fact).filter(([field]) => identifying.includes(field));
  return { ...redacted, ...Object.fromEntries(kept) } as Fact;
}
