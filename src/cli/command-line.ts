import type { Command } from "commander";
import { escapeText } from "../util/text/escape-text.ts";
import { completeCommandName } from "./completion/scripts.ts";
import { isDebugging } from "./debugging.ts";
import { exitCodeOfFailure, exitCodes, UsageError } from "./exit-codes.ts";
import { createProgram } from "./grammar/program.ts";
import { endProcess, failUnlessEnded, writeStderr } from "./output.ts";

/** Runs a command line. Ends the process with its exit code. */
export async function runAndEnd(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  escapeWarnings();
  failUnlessEnded();
  await endProcess(await runCommandLine(argv));
}

/** Node prints warnings as they are, and texts of files stand in some. Shows none where Node was told so. */
function escapeWarnings(): void {
  if (process.listenerCount("warning") === 0) return;
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => writeStderr(`llm-do: ${name}: ${escapeText(message, { keepNewlines: true })}\n`));
}

/** Runs a command line; resolves with its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const dashes = argv.indexOf("--");
  const words = withDefaultCommand(dashes < 0 ? argv : argv.slice(0, dashes));
  const line = { exitCode: 0, afterDashes: dashes < 0 ? undefined : argv.slice(dashes + 1) };
  const isCompletion = argv[0] === completeCommandName;
  const program = createProgram(line, isCompletion ? [] : words);
  if (argv.length === 0) {
    program.outputHelp({ error: true });
    return exitCodes.usage;
  }
  if (isCompletion) return answerShell(program, argv.slice(1));
  const helpTarget = findHelpTarget(words, program);
  try {
    if (helpTarget !== undefined) {
      const { programHelpCommand } = await import("./commands/program-help.ts");
      return await programHelpCommand(helpTarget);
    }
    if (words[0] === "help") await refuseUnknownCommand(words[1], program);
    await program.parseAsync(words, { from: "user" });
    return line.exitCode;
  } catch (thrown) {
    // The library ends `help COMMAND` with the exit code that the process has so far, which is a failure until it ends.
    if (isCommanderEnd(thrown) && thrown.code === "commander.help" && words[0] === "help") return exitCodes.done;
    if (isCommanderEnd(thrown)) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const { renderFailure } = await import("./run/render-failure.ts");
    writeStderr(await renderFailure(thrown, { debug: isDebugging({}) }));
    return exitCodeOfFailure(thrown);
  }
}

/** `llm-do runs`, alone or with flags, lists the runs. */
function withDefaultCommand(words: readonly string[]): readonly string[] {
  const [first, second = "-", ...more] = words;
  const isList = first === "runs" && second.startsWith("-") && second !== "--help" && second !== "-h";
  return isList ? ["runs", "list", ...(words.length > 1 ? [second, ...more] : [])] : words;
}

/** A shell gets candidates or nothing, and no message. */
async function answerShell(program: Command, words: readonly string[]): Promise<number> {
  const { completeCommand } = await import("./commands/setup/completion.ts");
  return completeCommand(program, words).catch(() => exitCodes.failed);
}

/** Returns the program of `[run] TARGET --help`, whose own help is shown; undefined for the help of a command. */
function findHelpTarget(words: readonly string[], program: Command): string | undefined {
  const [target, flag, ...more] = words[0] === "run" ? words.slice(1) : words;
  if (target === undefined || target.startsWith("-") || more.length > 0) return undefined;
  const isCommand = words[0] !== "run" && program.commands.some((command) => command.name() === target);
  return (flag === "--help" || flag === "-h") && !isCommand && target !== "help" ? target : undefined;
}

/** The library shows its general help for a command that it does not have, and ends with 0. */
async function refuseUnknownCommand(name: string | undefined, { commands }: Command): Promise<void> {
  const names = ["help", ...commands.map((command) => command.name())];
  if (name === undefined || name.startsWith("-") || names.includes(name)) return;
  const { didYouMean } = await import("../util/text/did-you-mean.ts");
  throw new UsageError(`there is no command \`${name}\`; ${didYouMean(name, names) ?? "llm-do --help lists them"}`);
}

function isCommanderEnd(thrown: unknown): thrown is { readonly code: string; readonly exitCode: number } {
  return thrown instanceof Error && "exitCode" in thrown && String((thrown as { code?: unknown }).code).startsWith("commander.");
}
