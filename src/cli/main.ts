import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { findStateDirectory } from "../host/state-directory.ts";

/** The command line. Ends the process with the command's exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  keepCompiledCode();
  const { runAndEnd } = await import("./command-line.ts");
  await runAndEnd(argv);
}

/** Keeps the compiled form of what is imported from here on, our modules and a program's, for the next start: a third of it is saved. */
function keepCompiledCode(): void {
  const { env: environment, platform } = process;
  const facts = { environment, platform, homeDirectory: homedir(), workingDirectory: process.cwd() };
  enableCompileCache(join(findStateDirectory(facts), "compile-cache"));
}
