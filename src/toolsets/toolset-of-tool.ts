import { type Tool, type Toolset, toolsetMark } from "./toolset.ts";

/** A tool that is referred to by itself, as the toolset of one that the gate takes. */
export function toolsetOfTool(name: string, tool: Tool): Toolset {
  const named: Tool = Object.freeze({ ...tool, name });
  return Object.freeze({ [toolsetMark]: true as const, name, tools: () => [named] });
}
