/** The toolsets that come with llm-do, by the names that worker files use. */
export const builtInToolsets = ["filesystem", "shell", "mcp", "delegation", "dynamic_workers", "skills", "program"] as const;
