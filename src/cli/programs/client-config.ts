import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { CompileError } from "../../compile/compile-error.ts";
import { toOfferedName } from "../../doors/offered-worker.ts";
import { commandLine } from "../command-name.ts";
import { writeResult, writeStderr } from "../output.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { compileToShow } from "./open-program.ts";
import { isTrusted } from "./require-trust.ts";

/** The command that a client starts. A client has another PATH and another working directory than a shell: both are absolute. */
interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

const configs = {
  claude: (name: string, server: ServerCommand) => ({ mcpServers: { [name]: server } }),
  cursor: (name: string, server: ServerCommand) => ({ mcpServers: { [name]: server } }),
  vscode: (name: string, server: ServerCommand) => ({ servers: { [name]: { type: "stdio", ...server } } }),
  zed: (name: string, server: ServerCommand) => ({ context_servers: { [name]: { source: "custom", ...server } } }),
  agent: (name: string, server: ServerCommand) => ({ agent_servers: { [name]: server } }),
};

export interface ConfigRequest {
  /** The form of the configuration. */
  readonly form: keyof typeof configs;
  readonly targets: readonly string[];
  readonly flags: RunFlags;
  /** The command as it was parsed: its words go into the configuration. */
  readonly command: Command;
}

/** Prints the lines that a client's configuration takes. Rejects with a `CompileError` for a folder without a program that compiles. */
export async function printConfig({ form, targets, flags, command }: ConfigRequest): Promise<number> {
  const names: string[] = [];
  for (const target of targets.length === 0 ? ["."] : targets) {
    const compiled = await compileToShow([target], flags);
    const { outline, diagnostics } = compiled;
    if (!outline) throw new CompileError(diagnostics);
    names.push(outline.name);
    if (!flags.trust && compiled.untrusted && !(await isTrusted(compiled))) writeStderr(describeUntrusted(target));
  }
  const words = process.argv.slice(process.argv.indexOf(command.name(), 2) + 1);
  const args = [realpathSync(process.argv[1] ?? ""), command.name(), ...toAbsolute(words, command)];
  if (targets.length === 0) args.push(resolve("."));
  const [name = ""] = names;
  const server = { command: process.execPath, args };
  await writeResult(
    `${JSON.stringify(configs[form](names.length > 1 ? "llm-do" : toOfferedName(name), server), undefined, 2)}\n`,
  );
  return 0;
}

/** A server that a client starts has no person to ask. */
function describeUntrusted(target: string): string {
  const how = `run \`${commandLine(target)}\` once at a terminal to trust it, or give --trust here, too`;
  return `llm-do: ${target} is not trusted, so a client cannot start it with these lines: ${how}\n`;
}

/** The words of a command line with absolute paths of programs and scripts, and without `--print-config`. */
function toAbsolute(words: readonly string[], { options }: Command): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const option = options.find(({ long, short }) => word === long || word === short);
    const own = option?.required ? [word, words[++at] ?? ""] : [word];
    if (word.split("=")[0] === "--print-config") continue;
    kept.push(...(word.startsWith("-") ? own.map(withAbsoluteScript) : [resolve(word)]));
  }
  return kept;
}

/** `--model=scripted:FILE`, `scripted:FILE` or `NAME=scripted:FILE` with the absolute path of the script. */
function withAbsoluteScript(word: string): string {
  return word.replace(/^((?:[^=\s]*=)*scripted:)(.+)$/s, (_, before: string, path: string) => `${before}${resolve(path)}`);
}
