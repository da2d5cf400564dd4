import type { JsonValue } from "../protocol/json.ts";
import type { FilePart } from "../protocol/message.ts";

const filesMark: unique symbol = Symbol("files of a result");

/** What a toolset of llm-do returns of a call whose result has files. */
export interface ValueWithFiles {
  readonly [filesMark]: true;
  /** Names each of the files. */
  readonly value: JsonValue;
  readonly files: readonly FilePart[];
}

/** Returns the value alone where there are no files. */
export function withFiles(value: JsonValue, files: readonly FilePart[]): JsonValue | ValueWithFiles {
  return files.length === 0 ? value : { [filesMark]: true, value, files };
}

export function hasFiles(made: unknown): made is ValueWithFiles {
  return typeof made === "object" && made !== null && filesMark in made;
}
