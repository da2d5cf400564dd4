import type { Callable, Worker } from "../../program/program.ts";
import { isRecord } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { toolName } from "../../toolsets/tool-name.ts";

/** What the tools of a program take, by the name that they are called by; undefined where a schema takes others than it names. */
export type ToolArguments = ReadonlyMap<string, readonly string[] | undefined>;

export function argumentsOfTools(workers: Iterable<Worker>, callables: ReadonlyMap<string, Callable>): ToolArguments {
  const found = new Map<string, readonly string[] | undefined>();
  const add = (name: string, schema: JsonSchema, more: readonly string[] = []) => {
    const names = namesOf(schema);
    const known = found.has(name) ? found.get(name) : [];
    found.set(name, names && known && [...known, ...names, ...more]);
  };
  for (const worker of workers) {
    for (const reference of worker.toolsets) {
      if (reference.kind === "worker") {
        const { name, input } = reference.worker();
        add(toolName(reference.prefix, name), input.jsonSchema);
      } else {
        const { tools, prefix } = reference.binding;
        for (const tool of tools) add(toolName(prefix, tool.name), tool.input.jsonSchema);
      }
    }
  }
  for (const [name, callable] of callables) {
    if (callable.kind === "worker") add(name, callable.worker.input.jsonSchema, ["extra_context"]);
    else add(name, callable.tool.input.jsonSchema);
  }
  return found;
}

function namesOf({ properties, additionalProperties }: JsonSchema): readonly string[] | undefined {
  return isRecord(properties) && additionalProperties === false ? Object.keys(properties) : undefined;
}
