import type { Fact } from "../protocol/fact.ts";

/*
 * Keys of effects and decisions within their call. A decision of the gate has the number of its round (`1`, `2` after arguments were
 * edited), with the prefix of a call that the runtime itself makes.
 */

/** Key of a request: `model 3.1` is the first attempt of the third turn. */
export const modelKey = (turn: number, attempt: number, isLast: boolean): string =>
  `model ${turn}.${attempt}${isLast ? " last" : ""}`;
/** Key of the decision to drop results before a request. */
export const compactionKey = (turn: number, attempt: number): string => `compaction ${turn}.${attempt}`;
/** Key of the question of a round. */
export const questionKey = (round: string): string => `question ${round}`;
/** The round of the question of a key; undefined for every other key. */
export function roundOfQuestion(key: string): string | undefined {
  return key.startsWith(questionKey("")) ? key.slice(questionKey("").length) : undefined;
}
/** The round that a fact asks, answers or decides about; undefined for every other one. */
export function questionOf(fact: Fact): string | undefined {
  if (fact.type === "decision" || fact.type === "answer") return fact.key;
  return (fact.type === "intent" || fact.type === "result") && fact.kind === "question" ? roundOfQuestion(fact.key) : undefined;
}
/** Key of the question whether a call that may have run is repeated. */
export const againKey = (prefix: string): string => `${prefix}again`;
/** Key of the execution of a tool. */
export const toolKey = (prefix = ""): string => `tool ${prefix}`.trimEnd();
/** Key of the decision of a limit on a tool call, by its number in the call of its worker. */
export const spendKey = (number: number): string => `call ${number}`;
/** Key of a call by code: its name, the digest of its input, and its number among equal calls of the same code. */
export const codeCallKey = (name: string, digest: string, number: number): string =>
  `call ${name} ${digest.slice(0, 32)} ${number}`;
/** Key of a connection. `digest`: of the configuration, where one connection serves the whole run. */
export const connectKey = (reference: string, digest?: string): string =>
  `connect ${reference}${digest === undefined ? "" : ` ${digest}`}`;
/** Key of the worker that a call created. */
export const workerKey = "worker";
/** Key of the comparison of a worker's code with its prompt. */
export const checkKey = "check";
/** Key of a step of code, by its name; `now 2` is the second look at the time. */
export const stepKey = (name: string): string => `step ${name}`;
export const nowKey = (number: number): string => `now ${number}`;
/** Key of the fact that the time of a call was up. */
export const timeKey = "seconds";
/** The same for the time of the run, under the entry's path. */
export const runTimeKey = "seconds of the run";
