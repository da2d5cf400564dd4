import type { Scopes } from "../../host/scopes/scopes.ts";
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
  /** It writes in layers over the scopes that it sees, and all of it is thrown away. Beside it there are no `writes`. */
  readonly scratch: boolean;
}

/** Effects as a rule has them: what it leaves out, it does not give. */
export type EffectKeys = Partial<Effects>;

/** Names of the arguments that ask for effects, and of the keys that give them. */
export const effectNames = ["writes", "opens", "reads", "network"] as const;

/** Nothing of the command remains: it looks, or writes in layers. */
export function isLook({ writes = [], opens = [], reads = [], network = false }: EffectKeys): boolean {
  return writes.length + opens.length + reads.length === 0 && !network;
}

/** Returns whether a rule gives all that a call asks for. */
export function contains(rule: EffectKeys, call: Effects, scopes: Pick<Scopes, "resolve">): boolean {
  const { writes = [], opens = [], reads = [], network = false } = rule;
  return (
    call.writes.every((path) => writes.some((folder) => isIn(scopes, path, folder))) &&
    call.opens.every((name) => opens.includes(name)) &&
    call.reads.every((name) => reads.includes(name)) &&
    (network || !call.network)
  );
}

function isIn(scopes: Pick<Scopes, "resolve">, path: string, folder: string): boolean {
  const [inner, outer] = [scopes.resolve(path), scopes.resolve(folder)];
  return inner.scope.name === outer.scope.name && outer.components.every((name, index) => name === inner.components[index]);
}

/** Arguments of a call; what is not asked for is left out. */
export function toEffectArgs({ writes, opens, reads, network, scratch }: Effects): JsonObject {
  return {
    ...(writes.length > 0 ? { writes: [...writes] } : {}),
    ...(opens.length > 0 ? { opens: [...opens] } : {}),
    ...(reads.length > 0 ? { reads: [...reads] } : {}),
    ...(network ? { network } : {}),
    ...(scratch ? { scratch } : {}),
  };
}

/** Describes effects for a person: `may write in out, and .git; no network`. */
export function describeEffects({ writes = [], opens = [], reads = [], network = false, scratch = false }: EffectKeys): string {
  const nothing = scratch ? "writes in layers that are thrown away" : "writes nothing";
  const places = writes.length === 0 ? nothing : `may write in ${writes.map(quoteName).join(", ")}`;
  const opened = opens.length === 0 ? "" : `, and ${opens.map(quoteName).join(", ")}`;
  const read = reads.length === 0 ? "" : `; may read ${reads.map(quoteName).join(", ")}`;
  return `${places}${opened}${read}; ${network ? "with" : "no"} network`;
}

/** A name with blanks could read as more than one. */
function quoteName(name: string): string {
  return /[^\w./:@+-]/.test(name) ? JSON.stringify(name) : name;
}
