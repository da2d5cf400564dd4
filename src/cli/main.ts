import { chmodSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { findHome, findStateDirectory } from "../host/state-directory.ts";

/** The command line. Ends the process with the command's exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  keepCompiledCode();
  const { runAndEnd } = await import("./command-line.ts");
  await runAndEnd(argv);
}

/** Keeps the compiled form of what is imported from here on, our modules and a program's, for the next start: a third of it is saved. */
function keepCompiledCode(): void {
  const { env: environment, platform } = process;
  const facts = { environment, platform, homeDirectory: findHome(), workingDirectory: process.cwd() };
  const state = findStateDirectory(facts);
  try {
    // Else it would be made for others, too, by the mask of the process.
    if (mkdirSync(state, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(state, 0o700);
  } catch {
    return;
  }
  enableCompileCache(join(state, "compile-cache"));
}
