import { isDebugging } from "./debugging.ts";
import { exitCodeOfFailure, exitCodes } from "./exit-codes.ts";
import { endProcess, failUnlessEnded, writeStderr } from "./output.ts";
import { createProgram } from "./program.ts";

/** The command line. Ends the process with the command's exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  failUnlessEnded();
  await endProcess(await runCommandLine(argv));
}

async function runCommandLine(argv: readonly string[]): Promise<number> {
  const dashes = argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  const line = { exitCode: 0, afterDashes: dashes < 0 ? undefined : argv.slice(dashes + 1) };
  const program = createProgram(line);
  if (argv.length === 0) {
    program.outputHelp({ error: true });
    return exitCodes.usage;
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return line.exitCode;
  } catch (thrown) {
    if (isCommanderEnd(thrown)) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const { renderFailure } = await import("./render-failure.ts");
    writeStderr(await renderFailure(thrown, { debug: isDebugging({}) }));
    return exitCodeOfFailure(thrown);
  }
}

function isCommanderEnd(thrown: unknown): thrown is { readonly code: string; readonly exitCode: number } {
  return thrown instanceof Error && "exitCode" in thrown && String((thrown as { code?: unknown }).code).startsWith("commander.");
}
