import type { builtInToolsets } from "../protocol/built-in-toolsets.ts";
import { filesystem } from "./filesystem/filesystem.ts";
import { createMcpToolset, type McpHost } from "./mcp/mcp.ts";
import { program } from "./program.ts";
import { createShellToolset } from "./shell/shell.ts";
import { skills } from "./skills/skills.ts";
import type { Toolset } from "./toolset.ts";
import { delegation } from "./workers/delegation.ts";
import { createDynamicWorkers, type WorkersHost } from "./workers/dynamic-workers.ts";

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
