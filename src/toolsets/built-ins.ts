import { delegation } from "./delegation.ts";
import { createDynamicWorkers, type WorkersHost } from "./dynamic-workers.ts";
import { filesystem } from "./filesystem/filesystem.ts";
import { createMcpToolset, type McpHost } from "./mcp/mcp.ts";
import { createShellToolset } from "./shell/shell.ts";
import { skills } from "./skills.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets that come with llm-do, by the name that worker files use. */
export function createBuiltInToolsets(host: McpHost & WorkersHost): ReadonlyMap<string, Toolset> {
  const own = [filesystem, createShellToolset(host), createMcpToolset(host), delegation, createDynamicWorkers(host), skills];
  const toolsets = own as readonly Toolset[];
  return new Map(toolsets.map((toolset) => [toolset.name, toolset]));
}
