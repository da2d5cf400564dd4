import type { Spanned } from "../diagnostics/source.ts";
import { clipText } from "../util/clip-text.ts";
import { getOwn } from "../util/get-own.ts";
import type { Place } from "./shape.ts";

/** The toolsets whose classes had these names. */
const builtIns: Readonly<Record<string, string>> = {
  ShellToolset: "shell",
  FileSystemToolset: "filesystem",
  FilesystemToolset: "filesystem",
  FileToolset: "filesystem",
  DelegationToolset: "delegation",
  AgentToolset: "delegation",
  DynamicAgentsToolset: "dynamic_workers",
  CustomToolset: "custom",
  MCPToolset: "mcp",
};

const classPath = /^(?:[A-Za-z_]\w*\.)+([A-Z]\w*)$/;
const fileAndClass = /^([^\s,:]*)\.py:([A-Za-z_]\w*)$/;

/** Reports a Python class path (`module.Class`, `path.py:Class`) with what to write instead. Says whether it is one. */
export function refusePythonReference({ value, span }: Spanned<string>, place: Place, what: "schema" | "toolset"): boolean {
  const [, className] = classPath.exec(value) ?? [];
  const [, file, member] = fileAndClass.exec(value) ?? [];
  const name = className ?? member;
  if (name === undefined) return false;
  const message = `\`${clipText(value, 80)}\` refers to Python; a ${what} is TypeScript here`;
  const note = noteFor(name, file, what);
  place.report("python-reference", { message, span, note: note });
  return true;
}

function noteFor(name: string, file: string | undefined, what: "schema" | "toolset"): string {
  const builtIn = what === "toolset" && file === undefined ? getOwn(builtIns, name) : undefined;
  if (builtIn !== undefined) return `write \`${builtIn}\``;
  const path = file === undefined ? `./${what}s` : /^\.{0,2}\//.test(file) ? file : `./${file}`;
  return `write \`${clipText(path, 80)}.ts:${name}\` for a file of the program, \`package:${name}\` for an npm package`;
}
