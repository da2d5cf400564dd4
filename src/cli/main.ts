import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, join } from "node:path";
import { findHome, findStateDirectory } from "../host/own-files/state-directory.ts";

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
    makeFolder(state);
  } catch {
    return;
  }
  enableCompileCache(join(state, "compile-cache"));
}

/** Makes a folder and those above it. Node's own way does not end below `/proc`, where a missing folder cannot be made. */
function makeFolder(path: string): void {
  if (existsSync(path) || path === dirname(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
  // Whatever the mask of the process says: else it would be made for others, too.
  chmodSync(path, 0o700);
}
