import { type CallPath, parentCallPath, withCallers } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { standingFacts } from "./standing.ts";

/** The request before which a fork leaves its run. */
export interface ForkPoint {
  /** Default: the entry. */
  readonly callPath?: CallPath;
  /** From 1; one more than there are: after the last answer. Default: the last one that is recorded. */
  readonly turn?: number;
}

export interface SharingPoint extends ForkPoint {
  /** True if a resumed run stopped at the request: what happened beside its call by then is shared, too. Default false. */
  readonly isStop?: boolean;
}

/** A run has no such call, or no such turn. */
export class NoForkPoint extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoForkPoint";
  }
}

/**
 * The facts that a fork shares: those before the request, and those of calls that ran beside its call and had begun by then. Throws a
 * `NoForkPoint`.
 */
export function factsBefore(recorded: readonly Fact[], point: SharingPoint): readonly Fact[] {
  const { facts } = standingFacts(recorded);
  const [start] = facts;
  const { callPath = start?.type === "run-start" ? start.entry : "" } = point;
  const turns = new Set(facts.flatMap((fact) => turnOf(fact, callPath) ?? []));
  const last = Math.max(0, ...turns);
  const { turn = Math.max(1, last) } = point;
  if (last === 0) throw new NoForkPoint(`no request of \`${callPath}\` is recorded${requestsOf(facts)}`);
  if (turn > last + 1)
    throw new NoForkPoint(`\`${callPath}\` has ${last} recorded turns, and none to go on from is turn ${turn}`);
  const found = facts.findIndex((fact) => (turnOf(fact, callPath) ?? 0) >= turn);
  const cut = found < 0 ? facts.length : found;
  const chain = new Set(withCallers(callPath));
  const begun = new Set(facts.slice(0, cut).flatMap((fact) => siblingOf(fact, chain, callPath) ?? []));
  const isShared = (sibling: CallPath | undefined) => sibling !== undefined && (point.isStop === true || begun.has(sibling));
  return facts.filter((fact, index) => index < cut || isShared(siblingOf(fact, chain, callPath)));
}

/** The turn of a request, or of what is decided before one. */
function turnOf(fact: Fact, callPath: CallPath): number | undefined {
  if (!("key" in fact) || fact.callPath !== callPath) return undefined;
  const [, turn] = /^(?:model|compaction) (\d+)\./.exec(fact.key) ?? [];
  return turn === undefined ? undefined : Number(turn);
}

/** The call beside the chain that a fact lies in; undefined for the chain, and for what is below its last call. */
function siblingOf(fact: Fact, chain: ReadonlySet<CallPath>, last: CallPath): CallPath | undefined {
  if (!("callPath" in fact) || chain.has(fact.callPath) || fact.callPath.startsWith(`${last}/`)) return undefined;
  return [...withCallers(fact.callPath)].find((path) => chain.has(parentCallPath(path) ?? ""));
}

const mostNamed = 10;

function requestsOf(facts: readonly Fact[]): string {
  const paths = [...new Set(facts.flatMap((fact) => (fact.type === "intent" && fact.kind === "model" ? [fact.callPath] : [])))];
  const named = paths.slice(0, mostNamed).map((path) => `\`${path}\``);
  return named.length === 0 ? "" : `; there are requests of ${named.join(", ")}${paths.length > mostNamed ? ", …" : ""}`;
}
