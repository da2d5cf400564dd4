import type { ToolsetReference, Worker } from "../../program/program.ts";
import { isRecord } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { toolName } from "../../toolsets/tool-name.ts";

/** What the tools of a program take, by the name that they are called by; undefined where a schema takes others than it names. */
export type ToolArguments = ReadonlyMap<string, readonly string[] | undefined>;

export function argumentsOfTools(workers: Iterable<Worker>, callables: ReadonlyMap<string, ToolsetReference>): ToolArguments {
  const found = new Map<string, readonly string[] | undefined>();
  const add = (name: string, schema: JsonSchema, more: readonly string[] = []) => {
    const names = namesOf(schema);
    const known = found.has(name) ? found.get(name) : [];
    found.set(name, names && known && [...known, ...names, ...more]);
  };
  for (const worker of workers) {
    for (const reference of worker.toolsets) {
      const { tools, prefix } = reference;
      for (const tool of tools) add(toolName(prefix, tool.name), tool.input.jsonSchema);
    }
  }
  for (const [name, { tools, worker }] of callables)
    for (const tool of tools) add(name, tool.input.jsonSchema, worker ? ["extra_context"] : []);
  return found;
}

function namesOf({ properties, additionalProperties }: JsonSchema): readonly string[] | undefined {
  return isRecord(properties) && additionalProperties === false ? Object.keys(properties) : undefined;
}
