import type { CallPath } from "../../protocol/call.ts";
import type { Fact, FactKey } from "../../protocol/fact.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import type { Effects } from "../effects.ts";
import { roundOfQuestion, toolKey } from "../keys.ts";
import type { FactIndex, FindFact } from "../standing.ts";

/** The record of a run that goes on, or is forked: which of its decisions still hold. */
export interface KnownRounds {
  /** Finds what holds: a verdict and a grant of a round that has ended, an answer to a question that is as it was. */
  readonly recall: FindFact;
  /** True for a fact that the record has already. Called with each fact of the run that goes on. */
  readonly has: (fact: Fact) => boolean;
  readonly begun: Effects["begun"];
}

export function createKnownRounds(record: FactIndex): KnownRounds {
  const { find } = record;
  const { latest, decided } = indexRounds(record);
  /** Digests of the calls as they are judged today. */
  const judged = new Map<string, string>();
  /** Rounds whose call is another one than it was. */
  const renewed = new Set<string>();
  const isRestored = createRoundTest(record, latest);
  /** Holds for a call that is as it was when it was answered. */
  const isAnswered = (key: FactKey): boolean =>
    find("decision", key) !== undefined && (isRestored(key) || judged.get(idOfRound(key)) === decided.get(idOfRound(key)));
  return {
    recall: (type, at) => {
      if (at.key === undefined) return find(type, at);
      const key = { callPath: at.callPath, key: at.key };
      if ((type === "verdict" || type === "grant") && !isRestored(key)) return undefined;
      if (type === "decision" && !isAnswered(key)) return undefined;
      const question = type === "intent" ? roundOfQuestion(key.key) : undefined;
      if (question !== undefined && !(find("result", key) && isAnswered({ ...key, key: question }))) return undefined;
      return find(type, key);
    },
    has: (fact) => {
      if (fact.type === "verdict") judged.set(idOfRound(fact), fact.asked ?? fact.digest);
      if (fact.type === "run-start") return true;
      const known = "callPath" in fact ? find(fact.type, fact) : undefined;
      // Code that is entered again may have further effects from here on.
      if (known && fact.type === "call-start") return fact.kind === "worker";
      const isSame = known !== undefined && canonicalJson(known) === canonicalJson(fact);
      if (fact.type === "verdict" && !isSame) renewed.add(idOfRound(fact));
      return isSame && !(fact.type === "grant" && renewed.has(idOfRound(fact)));
    },
    begun: ({ callPath, key: prefix }) => {
      const leaf = { callPath, key: toolKey(prefix) };
      const isLeaf = find("intent", leaf)?.sideEffect === true && !find("result", leaf);
      const isCode = prefix === "" && find("call-start", { callPath })?.kind === "tool" && !find("call-end", { callPath });
      if (!isLeaf && !isCode) return undefined;
      return find("verdict", { callPath, key: `${prefix}${latest.get(`${callPath}\n${prefix}`) ?? 1}` });
    },
  };
}

/** The last round of each call, and the digest that each decision was made for. */
function indexRounds({ recorded }: FactIndex) {
  const latest = new Map<string, number>();
  const digests = new Map<string, string>();
  const decided = new Map<string, string | undefined>();
  for (const fact of recorded) {
    if (fact.type !== "verdict" && fact.type !== "decision" && fact.type !== "refusal") continue;
    const id = idOfRound(fact);
    if (fact.type === "verdict") digests.set(id, fact.asked ?? fact.digest);
    if (fact.type === "decision") decided.set(id, digests.get(id));
    const { call, number } = roundOf(fact);
    latest.set(call, Math.max(number, latest.get(call) ?? 0));
  }
  return { latest, decided };
}

/** Returns a test that is true for a round that has come to its end: nothing of it is looked at again. */
function createRoundTest({ find }: FactIndex, latest: ReadonlyMap<string, number>): (key: FactKey) => boolean {
  /** True for a worker that goes on, and was asked for: its question is compared with that of today. */
  const isApproved = (callPath: CallPath): boolean => {
    if (find("call-start", { callPath })?.kind !== "worker" || find("call-end", { callPath })) return false;
    return find("verdict", { callPath, key: `${latest.get(`${callPath}\n`) ?? 1}` })?.verdict.type === "ask";
  };
  const hasEffect = ({ callPath, prefix }: Round): boolean =>
    find("result", { callPath, key: toolKey(prefix) }) !== undefined ||
    (prefix === "" && find("call-start", { callPath }) !== undefined && !isApproved(callPath));
  return (key) => {
    const round = roundOf(key);
    const decision = find("decision", key)?.decision;
    const isLeft = decision?.type === "deny" || (decision?.type === "approve" && decision.args !== undefined);
    if (isLeft || hasEffect(round) || round.number < (latest.get(round.call) ?? 0)) return true;
    return find("refusal", key) !== undefined || find("verdict", key)?.verdict.type === "blocked";
  };
}

function idOfRound({ callPath, key }: FactKey): string {
  return `${callPath}\n${key}`;
}

interface Round {
  readonly callPath: CallPath;
  readonly prefix: string;
  readonly number: number;
  readonly call: string;
}

/** `1`, or `main server:web_search 2`: the round of a call, with what tells it from others of the same path. */
const roundPattern = /^(|.* )(\d+)$/s;

function roundOf({ callPath, key }: FactKey): Round {
  const [, prefix = key, number = "0"] = roundPattern.exec(key) ?? [];
  return { callPath, prefix, number: Number(number), call: `${callPath}\n${prefix}` };
}
