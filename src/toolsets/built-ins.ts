import type { Host } from "../host/host.ts";
import { delegation } from "./delegation.ts";
import { filesystem } from "./filesystem/filesystem.ts";
import { createShellToolset } from "./shell/shell.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets that come with llm-do, by the name that worker files use. */
export function createBuiltInToolsets({ commands }: Pick<Host, "commands">): ReadonlyMap<string, Toolset> {
  const toolsets = [filesystem, createShellToolset({ commands }), delegation] as readonly Toolset[];
  return new Map(toolsets.map((toolset) => [toolset.name, toolset]));
}
