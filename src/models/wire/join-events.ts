import { isRecord } from "../../protocol/json.ts";
import type { Body } from "./repair.ts";

/** A text that an event adds to an answer: a member of a record in the event. */
export interface AddedText {
  readonly holder: Body;
  readonly member: string;
  /** Names the part of the answer that the text belongs to. */
  readonly part: unknown;
}

/** The member of a joined event that holds the lengths of the texts it was made of. */
const lengthsKey = "joined_lengths";

/**
 * Joins neighbours that add to the same text: a library, which validates each event and hands it through several streams, reads one.
 * `textOf` returns the text of an event that says nothing else. What is no event stays as it is.
 */
export function joinEvents(
  events: readonly (Body | string)[],
  textOf: (event: Body) => AddedText | undefined,
): readonly (Body | string)[] {
  const joined: (Body | string)[] = [];
  let first: AddedText | undefined;
  let lengths: number[] = [];
  for (const event of events) {
    const text = typeof event === "string" ? undefined : textOf(event);
    const added = String(text?.holder[text.member]);
    if (first && text && first.member === text.member && first.part === text.part) {
      first.holder[first.member] += added;
      lengths.push(added.length);
      const into = joined.at(-1);
      if (isRecord(into)) into[lengthsKey] = lengths;
    } else {
      joined.push(event);
      first = text;
      lengths = [added.length];
    }
  }
  return joined;
}

/** Splits a text of an event into those that it was joined from. */
export function splitText(text: string, event: unknown): readonly string[] {
  const lengths = isRecord(event) ? event[lengthsKey] : undefined;
  if (!Array.isArray(lengths)) return [text];
  let end = 0;
  const texts = lengths.map((length) => {
    end += length;
    return text.slice(end - length, end);
  });
  return texts.join("") === text ? texts : [text];
}
