import type { ToolCallPart, ToolResultPart } from "../../protocol/message.ts";
import { toolFailure } from "../../toolsets/toolset.ts";
import type { Redactor } from "../../util/secrets/redactor.ts";
import { digestJson } from "../../util/text/long-texts.ts";
import type { CallConfig, CallFrame } from "../config.ts";
import { addUserText } from "../conversation.ts";

/** How often the same call may give the same result before the model gets a hint, and before the call of its worker fails. */
const hintAt = 3;
const failAt = 5;

/** The calls of a turn. `results` are those of the first calls, in their order. */
export interface AnsweredCalls {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart[];
}

type Look = Redactor["look"];

interface RepeatedCall {
  readonly name: string;
  readonly times: number;
}

/** Counts in how many turns the same call gave the same result, since a turn brought something new. */
export class Repeats {
  /** The digests of all calls with their results, and how often each came. */
  readonly #seen = new Set<string>();
  readonly #times = new Map<string, number>();
  /** The texts of results, but for those of the last turn. */
  readonly #texts = new Set<string>();
  #lastTexts: readonly string[] = [];
  /** Turns that brought a text which no result had before. Nothing needs their digests until one does not. */
  #undigested: AnsweredCalls[] = [];

  clear(): void {
    this.#seen.clear();
    this.#times.clear();
    this.#texts.clear();
    this.#lastTexts = [];
    this.#undigested = [];
  }

  /** Adds a turn. Returns its calls, or none where a result has a new text. */
  add(turn: AnsweredCalls, look: Look): Iterable<RepeatedCall> {
    // Looking a text up reads all of it. That waits for the turn after, which mostly does not come: all texts of a first turn are new.
    for (const text of this.#lastTexts) this.#texts.add(text);
    this.#lastTexts = turn.results.flatMap(({ result }) => (result.ok && typeof result.value === "string" ? result.value : []));
    this.#undigested.push(turn);
    if (this.#lastTexts.some((text) => this.#texts.size === 0 || !this.#texts.has(text))) return [];
    const turns = this.#undigested.map((one) => this.#count(one, look));
    this.#undigested = [];
    return turns.at(-1) ?? [];
  }

  #count({ calls, results }: AnsweredCalls, look: Look): readonly RepeatedCall[] {
    const names = new Map(results.map(({ name, result }, index) => [digestOf(calls[index], result, look), name]));
    if ([...names.keys()].some((id) => !this.#seen.has(id))) this.#times.clear();
    return [...names].map(([id, name]) => {
      const times = (this.#times.get(id) ?? 0) + 1;
      this.#seen.add(id);
      this.#times.set(id, times);
      return { name, times };
    });
  }
}

/**
 * Counts turns in which the same call gave the same result, as long as no turn brings anything new: a model that checks its work after
 * each change goes on. Throws a `ToolFailure` of the type `loop`.
 */
export function guardAgainstLoop(call: CallConfig, frame: CallFrame, turn: AnsweredCalls): void {
  for (const { name, times } of frame.repeats.add(turn, call.run.redactor.look)) {
    if (times >= failAt) {
      const error = `\`${call.worker.name}\` is in a loop: \`${name}\` was called ${times} times with the same arguments, and gave the same result`;
      throw toolFailure("loop", error, "call it with another input, or go on without it");
    }
    if (times === hintAt) warn(call, frame, { name, times });
  }
}

function warn(call: CallConfig, frame: CallFrame, { name, times }: RepeatedCall): void {
  call.run.emit(call, { type: "warning", message: `\`${name}\` gave the same result for the same arguments ${times} times` });
  const advice = `Use that result, make another call, or give your answer; after ${failAt} times your work ends here.`;
  addUserText(
    call,
    frame,
    `You called \`${name}\` ${times} times with the same arguments, and the result was the same each time. ${advice}`,
  );
}

function digestOf(part: ToolCallPart | undefined, result: ToolResultPart["result"], look: Look): string {
  return digestJson([part?.name, part?.args, part?.invalidArgs ?? null, result], look);
}
