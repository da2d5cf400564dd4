import { type CompileRequest, compile } from "../../src/front/llm-do.ts";
import type { Host } from "../../src/host/host.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import type { MemoryContent } from "../../src/testing/memory-tree.ts";
import { showDiagnostic } from "./sample.ts";

export interface Machine {
  /** By path; relative ones lie in `/work`, which is the working directory. */
  readonly files: Readonly<Record<string, MemoryContent>>;
  readonly modules?: Readonly<Record<string, Record<string, unknown>>>;
  readonly workingDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export function createMachine({ files, modules = {}, ...options }: Machine): MemoryHost {
  const absolute = <T>(named: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(named).map(([path, content]) => [path.startsWith("/") ? path : `/work/${path}`, content]));
  return memoryHost({ files: absolute(files), modules: absolute(modules), ...options });
}

/** Compiles on a machine in memory. `shown` has a line for each diagnostic. */
export async function compileOn(host: Host, request: Omit<CompileRequest, "host"> = {}) {
  const compiled = await compile({ model: "anthropic:m", ...request, host });
  return { ...compiled, shown: compiled.diagnostics.map((one) => showDiagnostic(one).trimEnd()) };
}

export function worker(frontmatter = "description: x", instructions = "You help."): string {
  return `---\n${frontmatter.trim()}\n---\n${instructions}\n`;
}
