import type { Host } from "../host/host.ts";
import { filesystem } from "./filesystem/filesystem.ts";
import { createShellToolset } from "./shell/shell.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets that come with llm-do, by the name that worker files use. */
export function createBuiltInToolsets({ commands }: Pick<Host, "commands">): ReadonlyMap<string, Toolset> {
  const toolsets = [filesystem, createShellToolset({ commands })] as readonly Toolset[];
  return new Map(toolsets.map((toolset) => [toolset.name, toolset]));
}
