import type { ToolDefinition } from "../protocol/tool.ts";
import { toolName } from "../toolsets/tool-name.ts";
import { getOrMake } from "../util/get-or-make.ts";
import type { ToolsetBinding } from "./gate-types.ts";

const known = new WeakMap<ToolsetBinding, readonly ToolDefinition[]>();

/** Definitions of a binding's tools, by the names that models call them by: the same objects for all runs of a program, so that each is measured and converted once. */
export function definitionsOf(binding: ToolsetBinding): readonly ToolDefinition[] {
  return getOrMake(known, binding, () =>
    binding.tools.map(({ name, description, input }) => ({
      name: toolName(binding.prefix, name),
      description,
      inputSchema: input.jsonSchema,
    })),
  );
}
