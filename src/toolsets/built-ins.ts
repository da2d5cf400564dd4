import { filesystem } from "./filesystem/filesystem.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets that come with llm-do, by the name that worker files use. */
export const builtInToolsets: ReadonlyMap<string, Toolset> = new Map(
  [filesystem].map((toolset) => [toolset.name, toolset as Toolset]),
);
