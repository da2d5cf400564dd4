import type { CallPath } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { againKey, questionOf } from "./keys.ts";

/** The first fact of a call that is not the same in both runs. Absent: the run has no further fact of the call. */
export interface RunDifference {
  readonly callPath: CallPath;
  readonly recorded?: Fact;
  readonly replayed?: Fact;
}

/**
 * Compares two runs call by call, since calls beside each other may interleave in any way. Left out are the id of the run, the
 * name of its program, which can be that of its folder, the digests of the program, which another text that does the same has, how it was compiled, its prices, the process, the version of llm-do, the
 * numbering of questions, revocations and answers that were given between attempts, created workers, which follow from their calls, and a
 * request's allowance, which depends on what runs beside it.
 */
export function compareRuns(recorded: readonly Fact[], replayed: readonly Fact[]): readonly RunDifference[] {
  const [before, after] = [byCall(recorded), byCall(replayed)];
  const differences: RunDifference[] = [];
  for (const group of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(group) ?? [], after.get(group) ?? []];
    const length = Math.max(old.length, now.length);
    const index = Array.from({ length }, (_, at) => at).find((at) => textOf(old[at]) !== textOf(now[at]));
    if (index === undefined) continue;
    const [was, is] = [old[index], now[index]];
    const [callPath = ""] = group.split("\n");
    differences.push({ callPath, ...(was ? { recorded: was } : {}), ...(is ? { replayed: is } : {}) });
  }
  return differences;
}

/**
 * The facts of each call, under its path. Apart stand what another attempt records anew: the start of code that is entered again, and
 * questions whether a call is repeated, which come before or after its intent.
 */
function byCall(facts: readonly Fact[]): ReadonlyMap<string, Fact[]> {
  const calls = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (fact.type === "revocation" || fact.type === "answer" || fact.type === "worker") continue;
    // Parallel chains of code may swap the order of their calls.
    const callPath = fact.type === "code-call" ? fact.path : "callPath" in fact ? fact.callPath : "";
    const group = `${callPath}${fact.type === "call-start" ? "\nstart" : questionOf(fact)?.endsWith(againKey("")) ? "\nagain" : ""}`;
    const known = calls.get(group);
    if (known) known.push(fact);
    else calls.set(group, [fact]);
  }
  return calls;
}

function textOf(fact: Fact | undefined): string {
  return fact === undefined ? "" : canonicalJson(withoutPassing(fact));
}

const passingOfStart = {
  runId: undefined,
  program: undefined,
  programDigest: undefined,
  version: undefined,
  owner: undefined,
  forkOf: undefined,
  rules: undefined,
  prices: undefined,
  files: undefined,
  compiled: undefined,
};

function withoutPassing(fact: Fact): unknown {
  if (fact.type === "run-start") return { ...fact, ...passingOfStart };
  // Names its file from the working directory.
  if (fact.type === "call-start") return { ...fact, modelSource: undefined };
  if (fact.type !== "intent") return fact;
  // The digest covers the last two, which an earlier llm-do did not record.
  const { request, allowance: _, reserved: __, output: ___, settings: ____, ...detail } = fact.detail;
  const question = isRecord(request) ? { ...request, runId: undefined, position: undefined } : request;
  return { ...fact, detail: { ...detail, request: question } };
}
