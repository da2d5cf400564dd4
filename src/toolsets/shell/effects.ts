import type { JsonObject } from "../../protocol/json.ts";

/** What a command may do beyond looking. Names are sorted; a command without any changes nothing, and sees no network. */
export interface Effects {
  /** Virtual paths of folders in `rw` scopes, none in another. */
  readonly writes: readonly string[];
  /** Protected names that it may write in these folders. */
  readonly opens: readonly string[];
  /** Names of scopes that a look does not show. */
  readonly reads: readonly string[];
  readonly network: boolean;
}

/** Names of the arguments that ask for effects. */
export const effectNames = ["writes", "opens", "reads", "network"] as const;

export function isLook({ writes, opens, reads, network }: Effects): boolean {
  return writes.length + opens.length + reads.length === 0 && !network;
}

/** Arguments of a call, or keys of a rule; what is not asked for is left out. */
export function toEffectArgs({ writes, opens, reads, network }: Effects): JsonObject {
  return {
    ...(writes.length > 0 ? { writes: [...writes] } : {}),
    ...(opens.length > 0 ? { opens: [...opens] } : {}),
    ...(reads.length > 0 ? { reads: [...reads] } : {}),
    ...(network ? { network } : {}),
  };
}

/** Describes effects for a person: `may write in out, and .git; no network`. */
export function describeEffects({ writes, opens, reads, network }: Effects): string {
  const places = writes.length === 0 ? "writes nothing" : `may write in ${[...writes].map(quoteName).join(", ")}`;
  const opened = opens.length === 0 ? "" : `, and ${opens.map(quoteName).join(", ")}`;
  const read = reads.length === 0 ? "" : `; may read ${reads.map(quoteName).join(", ")}`;
  return `${places}${opened}${read}; ${network ? "with" : "no"} network`;
}

/** A name with blanks could read as more than one. */
function quoteName(name: string): string {
  return /[^\w./:@+-]/.test(name) ? JSON.stringify(name) : name;
}
