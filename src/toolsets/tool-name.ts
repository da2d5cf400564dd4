import { sha256 } from "../util/sha256.ts";

const longest = 64;
const hashed = 9;

/** Stands between the name of an MCP server and that of its tool. */
export const serverSeparator = "__";

/** Names of the tools that come with llm-do, but for those of a connection. */
export const builtInTools: ReadonlySet<string> = new Set([
  "read_file",
  "write_file",
  "append_file",
  "edit_file",
  "list_files",
  "search_files",
  "shell",
  "worker_call",
  "worker_create",
  "read_result",
  "search_tools",
]);

/** The name that a model calls a tool by: with its prefix, and, where providers would refuse the length, cut with a hash. */
export function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix ? `${prefix}_${name}` : name;
  return whole.length <= longest ? whole : `${whole.slice(0, longest - hashed)}_${sha256(whole).slice(0, 8)}`;
}

/** Returns true if a model could call a tool by this name whose own name begins with `beginning`. */
export function mayBegin(name: string, prefix: string | undefined, beginning: string): boolean {
  const whole = prefix ? `${prefix}_${beginning}` : beginning;
  return name.startsWith(whole.slice(0, longest - hashed));
}
