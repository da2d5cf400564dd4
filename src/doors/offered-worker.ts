import type { Program } from "../front/llm-do.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { inputSchemaOf } from "../runtime/results/entry-input.ts";

/** A worker (or code) that a client can call: the entry of its program. */
export interface OfferedWorker {
  /** Unique among those that are offered; letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  /** Absent: the output is text, or a value that is not an object. */
  readonly output?: JsonSchema;
  readonly program: Program;
}

/** Describes the entry of a program as something to call. */
export function offerWorker(name: string, program: Program): OfferedWorker {
  const { entry } = program;
  const worker = entry.kind === "worker" ? entry.worker : undefined;
  const output = worker?.output?.jsonSchema;
  return {
    name: toOfferedName(name),
    description: worker?.description || `Runs the program ${program.name}.`,
    input: inputSchemaOf(program),
    ...(output?.["type"] === "object" ? { output } : {}),
    program,
  };
}

export function toOfferedName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}
