import type { JsonValue } from "../protocol/json.ts";

/**
 * The workers and tools of a program by name, each as `{ input, output }`. Empty here: `llm-do types` writes a declaration file that adds
 * to it, so that calls by name are typed in the program's code.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declaration files add its members
export interface Callables {}

/** A name of the program, or any other one. */
export type CallableName = keyof Callables | (string & Record<never, never>);

/** Type of the value that a name takes; any JSON where its type is not known. */
export type InputOf<Name> = Name extends keyof Callables
  ? Callables[Name] extends { input: infer I }
    ? I
    : JsonValue
  : JsonValue;

/** Type of the value that a name gives; any JSON where its type is not known. */
export type OutputOf<Name> = Name extends keyof Callables
  ? Callables[Name] extends { output: infer O }
    ? O
    : JsonValue
  : JsonValue;
