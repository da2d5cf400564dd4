import type { RememberedCall } from "../../protocol/fact.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Redactor } from "../../util/secrets/redactor.ts";

/** A call with what its question shows beside the arguments. */
export interface AskedCall extends RememberedCall {
  /** Tells workers of one name apart. */
  readonly callerId?: string | undefined;
  /** An approval that was asked for one reason does not hold for another. */
  readonly why: string;
  readonly content: ShownContent;
  /** The folders that the scopes of its caller stand for. */
  readonly places?: JsonValue;
}

/** The content that a question shows: the text that a write replaces, the bytes of an attachment. */
export interface ShownContent {
  readonly now: JsonValue;
  /** The same once the call has run. An approval for the run holds for it too. */
  readonly after?: JsonValue;
}

/** Equal calls have equal ids, whatever was shown with them: one worker, toolset, tool and arguments. */
export function memoryId({ worker, callerId = "", reference, tool, args }: AskedCall, redactor: Redactor): string {
  return redactor.digest([worker, callerId, reference, tool, args]);
}

/** An approval for the run holds for the call, the reason, and the content that the question showed. */
export function shownDigest({ why, content, places = [] }: AskedCall, redactor: Redactor): string {
  return redactor.digest([why, content.now, places]);
}

/** Digests of all that an approval for the run holds for. */
export function approvedDigests({ why, content, places = [] }: AskedCall, redactor: Redactor): readonly string[] {
  const { now, after } = content;
  return [now, ...(after === undefined ? [] : [after])].map((state) => redactor.digest([why, state, places]));
}
