import type { builtInToolsets } from "../protocol/built-in-toolsets.ts";
import { delegation } from "./delegation.ts";
import { createDynamicWorkers, type WorkersHost } from "./dynamic-workers.ts";
import { filesystem } from "./filesystem/filesystem.ts";
import { createMcpToolset, type McpHost } from "./mcp/mcp.ts";
import { program } from "./program.ts";
import { createShellToolset } from "./shell/shell.ts";
import { skills } from "./skills.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets that come with llm-do, by the name that worker files use. */
export function createBuiltInToolsets(host: McpHost & WorkersHost): ReadonlyMap<string, Toolset> {
  const toolsets: Readonly<Record<(typeof builtInToolsets)[number], unknown>> = {
    filesystem,
    shell: createShellToolset(host),
    mcp: createMcpToolset(host),
    delegation,
    dynamic_workers: createDynamicWorkers(host),
    skills,
    program,
  };
  return new Map(Object.entries(toolsets) as [string, Toolset][]);
}
