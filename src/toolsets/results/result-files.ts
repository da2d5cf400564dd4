import type { JsonValue } from "../../protocol/json.ts";
import type { FilePart } from "../../protocol/message.ts";

const filesMark: unique symbol = Symbol("files of a result");

/** The result of a call that has files. Toolsets of llm-do alone make one. */
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
